#include "monitor/cli/simulation/stream_keys.h"

#include <fmt/format.h>
#include <unistd.h>

#include "probe/wire/session_directory.h"
#include "probe/wire/session_sweep.h"

namespace idlewave::cli::simulation {
namespace {

constexpr int kLockPatience = 1000;  // ms

}  // namespace

wire::Result<std::unique_ptr<StreamKeys>> StreamKeys::make() {
  const std::string session = fmt::format("sim-{}", getpid());
  char folder[wire::kSessionPathLimit];
  const int lock = wire::lock_session(session.c_str(), kLockPatience);
  if (lock < 0 || !wire::session_path(session.c_str(), folder))
    return wire::Error{"no folder can be made for the keys; IDLEWAVE_DIR names a place that is yours alone"};
  std::unique_ptr<StreamKeys> keys(new StreamKeys(session, lock));
  auto files = mailbox::make_session_keys(folder);
  if (!files) return files.error();
  keys->files_ = std::move(*files);
  return keys;
}

StreamKeys::~StreamKeys() {
  wire::remove_session_directory(session_.c_str());
  close(lock_);
}

}  // namespace idlewave::cli::simulation
