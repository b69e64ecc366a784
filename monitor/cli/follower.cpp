#include "monitor/cli/follower.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "monitor/cli/over.h"
#include "monitor/host/launcher_words.h"
#include "monitor/host/names.h"
#include "monitor/process/exec.h"
#include "monitor/process/sent_signals.h"

namespace idlewave::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Nanoseconds kFollowerIdle = std::chrono::milliseconds(100), kCalmNap = std::chrono::milliseconds(500);
constexpr Nanoseconds kSettled = std::chrono::seconds(1);  ///< By then it is attached, and the host knows our pace.
constexpr Nanoseconds kPatienceForEnd = std::chrono::seconds(2);

/// A job in the background that reads its terminal is stopped by the kernel; our program, which has none, would take
/// the lines that are typed for others.
bool others_have_the_keyboard() {
  const pid_t foreground = tcgetpgrp(STDIN_FILENO);
  return foreground > 0 && foreground != getpgrp();
}

host::LauncherKind launcher_of(const RunOptions& options) {
  return host::launcher_kind(options.command.front(), options.mpi);
}

host::Preload preload_for(const RunOptions& options, host::LauncherKind launcher) {
  host::Preload preload = options.no_preload
                              ? host::Preload{.why_not =
                                                  "is it linked with libidlewave-probe, and does it call "
                                                  "idlewave_start?"}
                              : host::choose_preload(options.command, launcher);
  preload.step_at = options.step_at;
  return preload;
}

/// Nothing: agents of other nodes are to reach us by a port.
wire::Result<std::optional<std::vector<host::FarNode>>> far_nodes_of(const RunOptions& options,
                                                                     host::LauncherKind launcher,
                                                                     const std::string& session) {
  using FarNodes = std::optional<std::vector<host::FarNode>>;
  if (options.agents_over.empty()) return FarNodes();
  const auto nodes = host::other_nodes(options.command, launcher);
  if (!nodes) return wire::Error{"--agents-over: " + nodes.error().message};
  auto far_nodes = far_nodes_over(options.agents_over, *nodes, session);
  if (!far_nodes) return far_nodes.error();
  return FarNodes(std::move(*far_nodes));
}

/// What it does to us is not what it does to the program.
bool moves_us_too(int signal) { return signal == SIGHUP || signal == SIGTSTP; }

}  // namespace

Monitor::Options monitor_options(const RunOptions& options, const host::HostedProgram& program) {
  return {.session = program.session(),
          .label = host::program_label(options.command, launcher_of(options)),
          .starting = fmt::format("{} is running; its ranks are seen once they call {}", options.command.front(),
                                  program.loads_library() ? "MPI_Init" : "idlewave_start"),
          .memory = options.memory,
          .ends_program = true,
          .hosted = program.session()};
}

wire::Result<std::unique_ptr<link::Link>> view_of(const host::HostedProgram& program) {
  return link::open_live({.session = program.session(), .endpoint = program.view_endpoint()});
}

std::variant<host::HostedProgram, host::HostedProgram::Refusal> start_program(const RunOptions& options,
                                                                              int output_fd) {
  const bool is_on_screen = !options.headless && !options.selftest;
  const host::LauncherKind launcher = launcher_of(options);
  const std::string session = options.session.empty()
                                  ? host::new_session_name(host::program_label(options.command, launcher))
                                  : options.session;
  auto far_nodes = far_nodes_of(options, launcher, session);
  if (!far_nodes) return host::HostedProgram::Refusal{2, far_nodes.error().message};
  return host::HostedProgram::start({.command = options.command,
                                     .launcher = launcher,
                                     .preload = preload_for(options, launcher),
                                     .session = session,
                                     .listen = options.listen,
                                     .spread = host::spread_of(options.command, launcher),
                                     .far_nodes = std::move(*far_nodes),
                                     .record = options.record,
                                     .allow_inject = options.allow_inject,
                                     .domain_curve = options.domain_curve,
                                     .likwid_group = options.likwid_group,
                                     .output_fd = output_fd,
                                     .report_has_stdout = !is_on_screen && options.json && options.report.empty(),
                                     .handed_down = process::handed_down(),
                                     .on_screen = is_on_screen,
                                     .starter_looks = !options.selftest,
                                     .in_background = others_have_the_keyboard()});
}

ProgramSignals::ProgramSignals() {
  sigemptyset(&set_);
  sigaddset(&set_, SIGCHLD);
  // What a fault of our own raises ends us though it is blocked. Blocked, one that is ignored is seen all the same.
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (process::is_passed_on(signal) && !(moves_us_too(signal) && process::was_ignored(signal)))
      sigaddset(&set_, signal);
  sigprocmask(SIG_BLOCK, &set_, &before_);
  fd_ = signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK);
}

ProgramSignals::~ProgramSignals() { close(fd_); }

void ProgramSignals::let_act() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int ProgramSignals::take() {
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof info) == sizeof info)
    if (process::is_by_somebody(int(info.ssi_signo), info.ssi_code, int(info.ssi_pid))) return int(info.ssi_signo);
  return 0;
}

Follower::Follower(host::HostedProgram& program, ProgramSignals& signals)
    : program_(program), signals_(signals), poll_(epoll_create1(EPOLL_CLOEXEC)) {
  for (const int fd : {signals.fd(), program.fd()}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event);
  }
}

Follower::~Follower() { close(poll_); }

Follower::Left Follower::follow(Monitor* monitor, std::optional<Nanoseconds> at_most) {
  const Clock::time_point start = Clock::now();
  std::optional<Nanoseconds> over_at;
  for (;;) {
    const Nanoseconds now = Clock::now() - start;
    if (!obey_signals()) return Left::kSentAway;
    program_.listen();
    program_.look_after_host();
    if (monitor) monitor->work(now);
    if (program_.exit_code() && !over_at) over_at = now;
    const bool all_is_here = !monitor || monitor->has_ended() || program_.host_was_killed();
    if (over_at && (all_is_here || now - *over_at > kPatienceForEnd)) break;
    if (!program_.has_ended() && at_most && now >= *at_most) {
      if (monitor) monitor->refresh(now);
      return Left::kEarly;
    }
    const bool ends_soon = program_.has_ended() || (at_most && *at_most - now < kCalmNap);
    wait(monitor, now > kSettled && !ends_soon && (!monitor || monitor->is_calm()));
  }
  if (!monitor) return Left::kAtItsEnd;
  if (program_.host_was_killed()) monitor->lose("the process that recorded the session was killed");
  // What was taken is acknowledged with the next look, and the host waits for it.
  monitor->work(Clock::now() - start);
  monitor->refresh(Clock::now() - start);
  return Left::kAtItsEnd;
}

bool Follower::obey_signals() {
  while (const int signal = signals_.take()) {
    if (signal == SIGHUP) return false;
    if (signal == SIGCHLD) {
      program_.collect();
      continue;
    }
    program_.pass_on(signal);
    if (signal != SIGTSTP) continue;
    raise(SIGTSTP);
    process::let_act(SIGTSTP);  // here we stop
  }
  return true;
}

/// In calm no frame wakes us: each time takes something from a rank that has the core.
void Follower::wait(Monitor* monitor, bool calm) {
  // The channel of a host that was killed stays readable.
  pollfd sign{program_.host_was_killed() ? signals_.fd() : poll_, POLLIN, 0};
  if (monitor && !calm) return monitor->wait(kFollowerIdle, sign.fd);
  poll(&sign, 1, int(std::chrono::duration_cast<std::chrono::milliseconds>(calm ? kCalmNap : kFollowerIdle).count()));
}

}  // namespace idlewave::cli
