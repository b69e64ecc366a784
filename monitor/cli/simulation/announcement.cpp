#include "monitor/cli/simulation/announcement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "probe/session/directory.h"
#include "probe/session/sweep.h"

namespace idlewave::cli::simulation {
namespace {

/// Milliseconds: whoever starts or ends there holds it for moments.
constexpr int kLockPatience = 1000;

bool lives(const std::string& session) {
  session::AgentRecord other;
  return session::read_agent_record(session.c_str(), other) && session::is_alive(other);
}

}  // namespace

wire::Result<std::unique_ptr<Announcement>> Announcement::make(const std::string& session) {
  if (!session::valid_session_name(session.c_str()))
    return wire::Error{
        fmt::format("--session '{}': accepted are up to {} letters, digits, '-', '_' and '.', the first no '.'",
                    session, session::kSessionNameLimit)};
  session::sweep_dead_sessions(session.c_str());
  const int hold = session::hold_session(session.c_str());
  char folder[session::kSessionPathLimit];
  if (hold < 0 || !session::session_path(session.c_str(), folder))
    return wire::Error{fmt::format(
        "the folder of session '{}' can't be made, or is not ours alone; IDLEWAVE_DIR names another place", session)};
  std::unique_ptr<Announcement> announcement(new Announcement(session, hold));
  if (lives(session))
    return wire::Error{fmt::format("a session '{}' runs already: choose another name with --session", session)};
  announcement->socket_ = std::string(folder) + "/agent.sock";
  announcement->endpoint_ = "ipc://" + announcement->socket_;
  return announcement;
}

wire::Status Announcement::publish(const std::string& endpoint) {
  record_.pid = getpid();
  record_.start = session::process_start_time(record_.pid);
  // There is no memory that ranks could join: a rank that takes this for it finds an empty file, and says so.
  record_.memory_fd = hold_;
  if (endpoint.size() >= sizeof record_.endpoint) return wire::Error{"endpoint " + endpoint + " is too long"};
  std::memcpy(record_.endpoint, endpoint.c_str(), endpoint.size() + 1);
  const int lock = session::lock_session(session_.c_str(), kLockPatience);
  const bool taken = lives(session_);
  const bool written = lock >= 0 && !taken && session::write_agent_record(session_.c_str(), record_);
  if (lock >= 0) close(lock);
  if (written) return wire::ok();
  return wire::Error{fmt::format("session '{}' can't be found by its name: {}", session_,
                                 taken ? "another one runs already" : "its folder can't be written")};
}

Announcement::~Announcement() {
  const int lock = session::lock_session(session_.c_str(), kLockPatience);
  session::remove_agent_record(session_.c_str(), record_);
  // ZeroMQ leaves its sockets behind; of another sender's we have made no endpoint.
  if (!socket_.empty()) unlink(socket_.c_str());
  close(hold_);
  if (lock >= 0) session::remove_session_directory_if_empty(session_.c_str());
  if (lock >= 0) close(lock);
}

}  // namespace idlewave::cli::simulation
