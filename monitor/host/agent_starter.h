#pragma once
// Starts this node's agent for the rank that asks: as a child of the host it is nobody else's, while one that a rank starts
// becomes the child of whoever takes in orphans above the rank, a wrapper of the user's maybe, and has the rank's limits.
// The socket `start.sock` of the session's folder: the rank connects and says a line of a reading of its clocks (agent:
// --clock) or nothing, a blank, and the program that it would start or nothing. "1" says that the agent has begun; an end
// without it, that the rank has to do it itself, as where it was told to take another program. An agent in another table of
// processes or another time than ours says "memory NODE" there, with what it leaves with us (deposits.h).

#include <optional>
#include <string>
#include <vector>

#include "monitor/host/deposits.h"
#include "monitor/host/descriptors.h"
#include "monitor/process/program.h"

namespace idlewave::host {

/// One thread, which never waits.
class AgentStarter {
 public:
  /// `command` and `environment` ("NAME=value", on top of ours): of an agent that goes into the background (--detach).
  AgentStarter(const std::string& folder, std::vector<std::string> command, std::vector<std::string> environment);
  AgentStarter(const AgentStarter&) = delete;
  AgentStarter& operator=(const AgentStarter&) = delete;
  ~AgentStarter();

  int fd() const {
    return descriptors_.fd();
  }  ///< Readable when somebody asks. Where there is no socket ranks do it themselves.
  /// Takes those who ask, and answers those whose agent has begun. Now and then, and when fd() is readable or a child of
  /// ours has ended.
  void serve();
  /// Of agents that were ended with their ranks.
  bool has_told_what_is_left();
  /// Of another table of processes or another time than ours.
  bool some_agent_lives_elsewhere() const { return deposits_.some_agent_lives(); }
  void say_program_has_ended() { deposits_.say_program_has_ended(); }

 private:
  struct Asker {
    int fd = -1;
    std::optional<process::Program> agent;
    bool is_done = false;
  };
  void hear(Asker& asker);
  void answer(Asker& asker);
  void hold(Deposit deposit);
  std::optional<process::Program> started(const std::string& clocks) const;

  std::vector<std::string> command_;
  std::vector<std::string> environment_;
  std::string path_;
  int listener_ = -1;
  Descriptors descriptors_;
  std::vector<Asker> askers_;
  Deposits deposits_;
};

}  // namespace idlewave::host
