#pragma once

#include <functional>
#include <memory>
#include <string>

#include "probe/agent/agent.h"
#include "probe/agent/background.h"

namespace idlewave::agent {

/// Runs an agent in a child process, and another one in its place if it dies while ranks are there: they go on writing
/// into the memory, which this process holds open, and find nothing changed. It knows neither ZeroMQ nor any thread, so
/// that there is little that could end it. Ranks know the agent by this process; when it is killed itself, the agent
/// goes on without it.
class Keeper {
 public:
  /// In a new process: an agent on `post`, from its start to its end; the exit code.
  using Collect = std::function<int(Post post, Background starter)>;

  Keeper(std::string session, std::unique_ptr<Post> post, Collect collect)
      : session_(std::move(session)), post_(std::move(post)), collect_(std::move(collect)) {}

  /// Until the agent has ended; the exit code. SIGTERM, SIGCONT and SIGURG are passed on to the agent.
  int run(Background starter);

 private:
  pid_t start_agent(Background& starter);
  bool is_needed() const;
  bool may_start_another(int status);
  void tell(const std::string& line) const;

  std::string session_;
  std::unique_ptr<Post> post_;
  Collect collect_;
  int restarts_ = 0;
  wire::Nanoseconds first_restart_{};
};

}  // namespace idlewave::agent
