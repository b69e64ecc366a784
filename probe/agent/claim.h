#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>

#include "probe/session/agent_record.h"
#include "probe/shm/layout.h"
#include "probe/wire/result.h"

namespace idlewave::agent {

/// One agent's place in its session's folder. A session has one agent that ranks can join: whoever holds the lock of
/// the folder itself. The file `lock` in it is held by those who start or end an agent, which may be our starter, so it
/// can't tell two agents apart.
class Claim {
 public:
  /// Null if the session has an agent already. Waits for one that is just starting or ending, 5 s at most.
  static wire::Result<std::unique_ptr<Claim>> take(const std::string& session);
  ~Claim();  ///< Removes what this agent left in the folder, and the folder if nothing of anybody else is in it.
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// A socket in the folder for monitors to attach to. An agent of this session that has ended may still be serving its
  /// own.
  std::string default_endpoint();
  /// Lets ranks find this agent by the process `pid`, in which the memory is open as `memory_fd`.
  wire::Status publish(const std::string& endpoint, int memory_fd, pid_t pid);
  /// Closes the door: from then on no rank can join, and the next one starts another agent. False if that can't be done
  /// now, because a rank just joins, or somebody else is starting or ending an agent; `insist` does not wait for the
  /// latter. A folder that is gone, or not ours any longer, has nobody to wait for.
  bool retire(shm::Header& header, const std::function<bool()>& somebody_is_in, bool insist);
  /// Another process that shares this claim cleans up.
  void forget() { forgotten_ = true; }

  /// Appends a line to agent.log in the folder: what went wrong when nobody looks at standard error any more.
  void log(const std::string& line) const;

 private:
  Claim(std::string session, std::string folder, int folder_fd, int start_lock)
      : session_(std::move(session)), folder_(std::move(folder)), folder_fd_(folder_fd), start_lock_(start_lock) {
    record_.pid = getpid();
    record_.start = session::process_start_time(record_.pid);
  }

  std::string session_;
  std::string folder_;
  int folder_fd_;                ///< Its flock is what makes this the session's agent. Shared by keeper and collector.
  int start_lock_;               ///< `lock`, while this agent starts; -1 if our starter holds it.
  std::string socket_;           ///< Path of ours; empty if we listen elsewhere.
  session::AgentRecord record_;  ///< Names whoever took the claim until it is published.
  int patience_ms_ = 0;          ///< For the lock, at the end.
  bool forgotten_ = false;
};

}  // namespace idlewave::agent
