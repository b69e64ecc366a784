#include "monitor/cli/simulation/stream_keys.h"

#include <fmt/format.h>
#include <unistd.h>

#include "probe/session/directory.h"
#include "probe/session/sweep.h"

namespace idlewave::cli::simulation {
namespace {

constexpr int kLockPatience = 1000;  // ms

}  // namespace

wire::Result<std::unique_ptr<StreamKeys>> StreamKeys::make() {
  const std::string session = fmt::format("sim-{}", getpid());
  char folder[session::kSessionPathLimit];
  const int lock = session::lock_session(session.c_str(), kLockPatience);
  if (lock < 0 || !session::session_path(session.c_str(), folder))
    return wire::Error{"no folder can be made for the keys; IDLEWAVE_DIR names a place that is yours alone"};
  std::unique_ptr<StreamKeys> keys(new StreamKeys(session, lock));
  auto files = mailbox::make_session_keys(folder);
  if (!files) return files.error();
  keys->files_ = std::move(*files);
  return keys;
}

StreamKeys::~StreamKeys() {
  session::remove_session_directory(session_.c_str());
  close(lock_);
}

}  // namespace idlewave::cli::simulation
