#pragma once
// A program that `run` starts, followed to its end.

#include <csignal>
#include <memory>
#include <optional>
#include <variant>

#include "monitor/cli/monitor.h"
#include "monitor/cli/options.h"
#include "monitor/host/hosted_program.h"

namespace idlewave::cli {

/// What it prints goes to `output_fd`; -1: where ours goes, or while a screen is there is kept for later.
std::variant<host::HostedProgram, host::HostedProgram::Refusal> start_program(const RunOptions& options, int output_fd);
Monitor::Options monitor_options(const RunOptions& options, const host::HostedProgram& program);
wire::Result<std::unique_ptr<link::Link>> view_of(const host::HostedProgram& program);

/// Signals that the program would get if it stood in our place: they are passed on to it. That includes those which were
/// ignored when we were started, as scripts have it for what they start in the background: the program inherits that, and
/// may have come to care. SIGHUP is ours: we leave, and the program stays; where it was ignored, as by nohup, we stay too.
/// At most one at a time in a process.
class ProgramSignals {
 public:
  ProgramSignals();
  ProgramSignals(const ProgramSignals&) = delete;
  ProgramSignals& operator=(const ProgramSignals&) = delete;
  ~ProgramSignals();

  /// From here on they do what they do: in a child that has its own way with them, or when the program is over.
  void let_act() const;
  int fd() const { return fd_; }
  /// The next one that has come; 0: none.
  int take();

 private:
  sigset_t set_, before_;
  int fd_;
};

/// Without a monitor it just waits. One thread; both have to outlive it.
class Follower {
 public:
  Follower(host::HostedProgram& program, ProgramSignals& signals);
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower();

  enum class Left { kAtItsEnd, kEarly, kSentAway };

  /// Until its end, for at most so long, or until we are told to leave it alone.
  Left follow(Monitor* monitor, std::optional<Nanoseconds> at_most = {});

 private:
  bool obey_signals();
  void wait(Monitor* monitor, bool calm);

  host::HostedProgram& program_;
  ProgramSignals& signals_;
  int poll_;
};

}  // namespace idlewave::cli
