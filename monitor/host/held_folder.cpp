#include "monitor/host/held_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/session/sweep.h"

namespace idlewave::host {
namespace {

constexpr int kLockPatience = 1000;  // ms; an agent that ends holds the lock for moments

std::string session_folder(const std::string& name) {
  char path[session::kSessionPathLimit];
  return session::session_path(name.c_str(), path) ? path : std::string();
}

std::string unusable_root(const std::string& name) {
  const char* root = std::getenv("IDLEWAVE_DIR");
  return fmt::format(
      "IDLEWAVE_DIR={} can't hold a session '{}': it has to be an absolute path of at most {} characters without a "
      "line break",
      root ? root : "", name, session::kSessionPathLimit - 2 - int(name.size()));
}

wire::Error no_place(const std::string& name, int why) {
  if (why != 0 && why != EWOULDBLOCK)
    return {fmt::format("{}: can't be locked: {}", session_folder(name), std::strerror(why))};
  return {fmt::format(
      "a session '{}' runs already: choose another name (--session), or watch that one (idlewave attach {})", name,
      name)};
}

/// What could be made of it, as where there is room for a few files.
void leave(const std::string& name) {
  const int lock = session::lock_session(name.c_str(), 0);
  session::remove_session_directory_if_empty(name.c_str());
  if (lock >= 0) close(lock);
}

}  // namespace

wire::Result<HeldFolder> HeldFolder::take(const std::string& name) {
  if (!session::valid_session_name(name.c_str())) {
    return wire::Error{
        fmt::format("session name '{}': accepted are up to {} letters, digits, '-', '_' and '.', the first no '.'",
                    name, session::kSessionNameLimit)};
  }
  session::sweep_dead_sessions(name.c_str());
  const int hold = session::hold_session(name.c_str());
  if (hold < 0 && session_folder(name).empty()) return wire::Error{unusable_root(name)};
  if (hold < 0) {
    session::remove_session_directory_if_empty(name.c_str());
    return wire::Error{fmt::format(
        "the session's folder {} can't be made, or is not ours alone (mode 0700); IDLEWAVE_DIR names another place",
        session_folder(name))};
  }
  errno = 0;
  const int place = session::take_monitors_place(name.c_str());
  if (place >= 0) return HeldFolder(name, hold, place);
  const int why = errno;
  close(hold);
  if (why != EWOULDBLOCK) leave(name);
  return no_place(name, why);
}

HeldFolder::HeldFolder(std::string session, int hold, int place)
    : session_(std::move(session)), hold_(hold), place_(place) {}

HeldFolder::HeldFolder(HeldFolder&& other) noexcept
    : session_(std::exchange(other.session_, {})), hold_(other.hold_), place_(other.place_) {}

HeldFolder::~HeldFolder() {
  if (session_.empty()) return;
  // An agent that ends at the same time leaves the folder to us, if it still sees something of ours; else it is the one
  // to remove it.
  const int lock = session::lock_session(session_.c_str(), kLockPatience);
  close(hold_);
  session::AgentRecord agent;
  const bool agent_lives = session::read_agent_record(session_.c_str(), agent) && session::is_alive(agent);
  // The place goes last: then the next monitor of this name may be here.
  for (const char* ours : {"host", "output", "program.log", "results.json", "trouble.log", "trouble.log~", "view.sock",
                           "monitor.sock", "start.sock", "monitor"})
    unlink((path() + "/" + ours).c_str());
  close(place_);  // There may be few descriptors.
  agent_lives ? session::remove_session_directory_if_empty(session_.c_str())
              : session::remove_session_directory(session_.c_str());
  if (lock >= 0) close(lock);
}

std::string HeldFolder::path() const { return session_folder(session_); }

}  // namespace idlewave::host
