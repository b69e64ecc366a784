#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "monitor/analysis/session/lost_ranks.h"
#include "monitor/analysis/session/missing.h"
#include "monitor/cli/follower.h"
#include "monitor/cli/reporting/report.h"
#include "monitor/cli/selftest.h"
#include "monitor/cli/verbs.h"
#include "monitor/cli/watching.h"
#include "monitor/host/hosted_program.h"
#include "monitor/host/names.h"
#include "monitor/host/programs.h"
#include "monitor/process/exec.h"
#include "probe/session/agent_record.h"
#include "probe/session/files.h"
#include "probe/session/sweep.h"
#include "probe/signals/stop_signals.h"

namespace idlewave::cli {
namespace {

using host::HostedProgram;
using host::kOwnFailure;

/// How a screen was left, as the exit code of its process.
enum ScreenLeft { kProgramOver = 0, kNoTerminal = 2, kNothingReported = 64, kDetached = 65, kQuit = 66 };

/// The program's alone: whoever is at the other end shall learn when the program lets go of it. On a terminal nobody is.
void let_go_of(int stream) {
  if (!isatty(stream)) process::let_go_of_stream(stream);
}

/// -1: errno says why. A pipe that nobody has opened to read is not waited for.
int open_to_write(const std::string& path, int flags) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC | flags, 0666);
  if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

const char* why_not_written(int error) { return error == ENXIO ? "nobody reads this pipe" : std::strerror(error); }

/// False: errno says why.
bool write_file(const std::string& path, const std::string& text) {
  const int fd = open_to_write(path, 0);
  if (fd < 0) return false;
  const bool written = session::write_all(fd, text.data(), text.size());
  return close(fd) == 0 && written;
}

/// Of the files that we have open ourselves, or that were handed down.
bool names_a_descriptor(const std::string& path) {
  return path.starts_with("/dev/fd/") || path.starts_with("/dev/std") || path.starts_with("/proc/");
}

/// One on standard output has been printed by now.
wire::Status write_report(const Monitor& monitor, const RunOptions& options) {
  const bool printed = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (!printed && options.headless && options.json)
    return wire::Error{"the report could not be written to standard output: nobody reads it, or the disk is full"};
  if (options.report.empty() ||
      write_file(options.report, reporting::report_json(monitor.observer().timeline(), options.window)))
    return wire::ok();
  return wire::Error{fmt::format("{}: the report could not be written: {}", options.report, why_not_written(errno))};
}

/// Of one that failed nothing is guessed, but what kept it from being seen in any case is said.
std::string silence_of_one_that_failed(const HostedProgram& program) {
  return "; it reported nothing" + (program.loads_library() ? "" : ": " + program.why_unseen());
}

/// `in_silence`: all that was to come has come, and nothing was reported.
void say_how_the_program_ended(const HostedProgram& program, bool in_silence) {
  const int code = *program.exit_code();
  if (code != 0)
    fail(host::how_it_ended(program.name(), code) + (in_silence ? silence_of_one_that_failed(program) : ""), 0);
  else if (in_silence && !program.has_notes())
    fail("the program ended without reporting anything: " + program.why_unseen(), 0);
}

void say_what_is_missing(const timeline::Timeline& timeline) {
  const analysis::session::Missing missing = analysis::session::find_missing(timeline);
  if (!missing.is_complete()) fail("incomplete: " + to_words(missing), 0);
  const auto lost = analysis::session::find_lost_ranks(timeline);
  if (!lost.empty()) fail("lost: " + to_words(lost), 0);
}

int left_alone(HostedProgram& program, int code) {
  program.listen();
  if (program.host_was_killed()) {
    fail(fmt::format("{} goes on, but nothing records it any more: the process that did was killed", program.name()),
         0);
    return code;
  }
  fail(fmt::format("{} goes on as session {}; 'idlewave attach {}' shows it again", program.name(), program.session(),
                   program.session()),
       0);
  if (program.keeps_output())
    fail(fmt::format("what it prints will be in {}.out here when it has ended, or under the next free name",
                     program.session()),
         0);
  return code;
}

int end_of(HostedProgram& program, const wire::Status& report, bool in_silence) {
  program.part();
  for (const std::string& line : program.last_words()) fail(line, 0);
  int code = program.code_to_pass_on();
  say_how_the_program_ended(program, in_silence);
  if (!report) code = fail(report.error().message, code == 0 ? kOwnFailure : code);
  session::sweep_dead_sessions(nullptr);  // A host that was killed has left its folder.
  return code;
}

using Left = Follower::Left;

/// Of one that goes on without us.
int code_of(Left left) { return left == Left::kSentAway ? signals::exit_code_of(SIGHUP) : 0; }

int run_headless(const RunOptions& options, HostedProgram& program, ProgramSignals& signals) {
  Follower follower(program, signals);
  auto link = view_of(program);
  if (!link) {
    fail(link.error().message + "; the program goes on without being watched", 0);
    const Left left = follower.follow(nullptr, options.headless_for);
    if (left != Left::kAtItsEnd) return left_alone(program, code_of(left));
    return end_of(program, link.error(), false);
  }
  Monitor monitor(std::move(*link), monitor_options(options, program));
  monitor.be_patient();
  if (options.without_screen) monitor.look_away();
  const Left left = follower.follow(&monitor, options.headless_for);
  if (left == Left::kSentAway) return left_alone(program, code_of(left));
  signals.let_act();  // Nothing is to be passed on any more, and whoever reads the report may keep us waiting.
  print_result(monitor, options);
  if (left == Left::kEarly) {
    const wire::Status report = write_report(monitor, options);
    return left_alone(program, report ? code_of(left) : fail(report.error().message, kOwnFailure));
  }
  const bool in_silence = monitor.has_ended() && monitor.observer().timeline().empty();
  const bool was_turned_away = !monitor.observer().timeline().losses().empty();  // Whoever had something to say.
  if (!in_silence || was_turned_away) say_what_is_missing(monitor.observer().timeline());
  if (!monitor.has_ended() && !options.record.empty() && !program.host_was_killed())
    fail(fmt::format("the end did not reach this process; 'idlewave info --check {}' says what was recorded",
                     options.record),
         0);
  return end_of(program, write_report(monitor, options), in_silence);
}

/// The life of the screen's process.
int show(const RunOptions& options, const HostedProgram& program, const ProgramSignals& signals) {
  signals.let_act();
  auto link = view_of(program);
  if (!link) return fail(link.error().message, kNoTerminal);
  Monitor monitor(std::move(*link), monitor_options(options, program));
  const auto nothing_to_see = [&](Nanoseconds) { return monitor.has_ended() && monitor.observer().timeline().empty(); };
  const int code = watch_on_screen(monitor, nothing_to_see);
  if (const auto report = write_report(monitor, options); !report) fail(report.error().message, 0);
  if (code != 0) return code;
  if (monitor.leaving() == Monitor::Leaving::kDetach) return kDetached;
  if (!monitor.has_ended()) return kQuit;
  return monitor.observer().timeline().empty() ? kNothingReported : kProgramOver;
}

/// Those that end, stop or resize it; all others are for the program.
bool is_for_a_screen(int signal) {
  constexpr std::array kItsOwn = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
  return std::ranges::find(kItsOwn, signal) != kItsOwn.end();
}

int run_on_screen(const RunOptions& options, HostedProgram& program, ProgramSignals& signals) {
  int asked = 0;  // The last signal that came to us and not to the screen alone.
  const auto takes = [&](int signal) {
    if (!is_for_a_screen(signal)) return program.pass_on(signal), true;
    if (signal != SIGWINCH) asked = signal;
    return false;
  };
  const int left = guarded(
      [&] { return show(options, program, signals); },
      {.on_other_child = [&](pid_t pid, int status) { program.collected(pid, status); }, .takes_signal = takes});
  program.listen();
  const bool hung_up = left == signals::exit_code_of(SIGHUP) && !process::was_ignored(SIGHUP);
  if ((left == kDetached && !program.has_ended()) || hung_up) {
    program.show_output();
    return left_alone(program, left == kDetached ? 0 : left);
  }
  if (left == kQuit)
    program.end();
  else if (asked != 0 && left == signals::exit_code_of(asked))
    program.pass_on(asked);
  else if (left != kProgramOver && left != kNothingReported && !program.has_ended())
    fail(fmt::format("{} goes on, and is waited for; 'idlewave attach {}' shows it again, Ctrl-C ends it",
                     program.name(), program.session()),
         0);
  const Left over = Follower(program, signals).follow(nullptr);
  program.show_output();
  if (over == Left::kSentAway) return left_alone(program, code_of(over));
  return end_of(program, wire::ok(), left == kNothingReported);
}

/// Opened before anything is started, so that nothing is when it can't be.
wire::Result<int> open_output(const std::string& path) {
  if (path.empty()) return -1;
  const int fd = open_to_write(path, O_APPEND);
  if (fd < 0) return wire::Error{fmt::format("--output {}: {}", path, why_not_written(errno))};
  return fd;
}

/// Tried before anything is started, so that nobody waits hours for it. What is in the file stays until there is a
/// report, and a pipe may find its reader until then.
wire::Status try_report(const std::string& path) {
  std::error_code unknown;
  if (path.empty() || names_a_descriptor(path) || std::filesystem::is_other(std::filesystem::status(path, unknown)))
    return wire::ok();
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return wire::Error{fmt::format("--report {}: {}", path, std::strerror(errno))};
  close(fd);
  return wire::ok();
}

}  // namespace

int run(const RunOptions& options) {
  if (!options.headless && !options.selftest && !isatty(STDOUT_FILENO))
    return fail("standard output is not a terminal: start it in one, or use --headless", 2);
  if (session::process_start_time(getpid()) == 0)
    return fail(
        "/proc tells nothing of processes, and nobody can say which of them live: mount it (mount -t proc proc /proc)",
        2);
  std::signal(SIGPIPE, SIG_IGN);  // Whoever no longer reads what we say ends neither us nor the program.
  stand_beside_a_program();
  const auto output = open_output(options.output);
  if (!output) return fail(output.error().message, 2);
  if (const wire::Status report = try_report(options.report); !report) return fail(report.error().message, 2);
  if (options.selftest) return selftest(options, *output);
  const bool report_is_theirs = names_a_descriptor(options.report);
  const std::vector<int> handed_down = report_is_theirs ? std::vector<int>() : process::handed_down();
  ProgramSignals signals;
  auto started = start_program(options, *output);
  if (const auto* refusal = std::get_if<HostedProgram::Refusal>(&started)) return fail(refusal->reason, refusal->code);
  HostedProgram& program = std::get<HostedProgram>(started);
  if (!program.where_it_listens().empty()) fail(program.where_it_listens(), 0);
  let_go_of(STDIN_FILENO);
  if (options.headless && !options.json && !report_is_theirs) let_go_of(STDOUT_FILENO);
  process::let_go_of(handed_down);
  const int code =
      options.headless ? run_headless(options, program, signals) : run_on_screen(options, program, signals);
  if (program.ended_by() != 0) process::end_by(program.ended_by());
  return code;
}

}  // namespace idlewave::cli
