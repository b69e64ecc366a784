#pragma once
// What an agent leaves with the host that has another table of processes or another time than the host, where nobody knows it
// by its number, and the kernel may end it together with its ranks, as where the launcher is the first process of a container:
// its memory, a sign of when that process has ended, and one of itself. When the process has ended nobody writes into the memory
// any more, and an agent that the host starts tells what is left in it (idlewave-agent --left-by).

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "monitor/process/program.h"
#include "probe/session/descriptor.h"

namespace idlewave::host {

struct Deposit {
  std::string node;             ///< As its agent calls it.
  session::Descriptor memory;   ///< Whoever looks into it judges it.
  session::Descriptor process;  ///< Readable when all who could write into the memory have ended (pidfd_open).
  session::Descriptor agent;    ///< The same of the agent itself.
};

/// What somebody said at a socket, and what came with it; no `deposit` if that is none.
struct Said {
  bool is_there = false;  ///< Else it comes later.
  std::string text;
  std::optional<Deposit> deposit;
};
Said hear_from(int socket);

/// One thread, which never waits.
class Deposits {
 public:
  /// `agent`, `environment` ("NAME=value", on top of ours): of an agent of this session that stays in the foreground.
  Deposits(std::vector<std::string> agent, std::vector<std::string> environment)
      : agent_(std::move(agent)), environment_(std::move(environment)) {}
  Deposits(const Deposits&) = delete;
  Deposits& operator=(const Deposits&) = delete;
  ~Deposits();

  /// False: there are too many.
  bool take(Deposit deposit);
  /// Has told what can be told. When a process has ended, and when a child of ours has.
  void serve();
  /// Nothing is left that could be told now.
  bool are_told();
  /// One whose agent has not ended.
  bool some_agent_lives() const;
  /// To those that live, once each: as say_program_has_ended of one that is here.
  void say_program_has_ended();

 private:
  struct Held {
    Deposit deposit;
    std::optional<process::Program> teller;
    bool is_told = false;
    bool knows_of_end = false;
  };
  void have_told(Held& held) const;

  std::vector<std::string> agent_;
  std::vector<std::string> environment_;
  std::list<Held> held_;
};

}  // namespace idlewave::host
