#include "monitor/cli/selftest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <variant>
#include <vector>

#include "monitor/cli/follower.h"
#include "monitor/cli/verbs.h"
#include "monitor/host/programs.h"
#include "monitor/process/program.h"
#include "workloads/support/json.h"

namespace idlewave::cli {
namespace {

using SelfClock = std::chrono::steady_clock;

/// One run: how long, or why that is not known, and what to exit with.
struct Failure {
  int code = 0;
  std::string reason;
};
using Run = std::variant<Nanoseconds, Failure>;

double share(const Turn& turn) { return wire::seconds(turn.watched) / wire::seconds(turn.alone) - 1; }

Failure how_it_failed(const RunOptions& options, int code, const char* how) {
  return {code, fmt::format("{}: {}; it is measured only if it ends with 0",
                            host::how_it_ended(options.command.front(), code), how)};
}

/// Passes signals on to the program; SIGHUP ends it, for nobody is there any more to be told.
void obey_signals(ProgramSignals& signals, pid_t program) {
  while (const int signal = signals.take())
    if (signal != SIGCHLD) kill(-program, signal);
}

Run run_alone(const RunOptions& options, const process::ProgramOptions& streams, ProgramSignals& signals) {
  const auto start = SelfClock::now();
  auto started = process::Program::start(options.command, streams);
  if (const auto* failure = std::get_if<process::Program::NotStarted>(&started))
    return Failure{failure->shell_code, failure->error.message};
  auto& program = std::get<process::Program>(started);
  while (!program.exit_code()) {
    pollfd readable{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    poll(&readable, 1, -1);
    obey_signals(signals, program.pid());
  }
  if (*program.exit_code() != 0) return how_it_failed(options, *program.exit_code(), "in a run that nobody watched");
  return Nanoseconds(SelfClock::now() - start);
}

Run run_watched(const RunOptions& options, int output_fd, ProgramSignals& signals) {
  auto started = start_program(options, output_fd);
  if (const auto* refusal = std::get_if<host::HostedProgram::Refusal>(&started))
    return Failure{refusal->code, refusal->reason};
  auto& program = std::get<host::HostedProgram>(started);
  auto link = view_of(program);
  if (!link) return Failure{host::kOwnFailure, link.error().message};
  Monitor monitor(std::move(*link), monitor_options(options, program));
  if (Follower(program, signals).follow(&monitor) == Follower::Left::kSentAway) program.end();
  program.part();
  for (const std::string& line : program.last_words()) fail(line, 0);
  const int code = program.code_to_pass_on();
  const bool by_signal = code > 128;  // It may have been passed on by us.
  if (code != 0) return how_it_failed(options, by_signal ? code : host::kOwnFailure, "in a run that was watched");
  return program.lived();
}

int own_fd(int output_fd, int flags) { return output_fd >= 0 ? output_fd : open("/dev/null", flags | O_CLOEXEC); }

std::string turn_in_words(std::size_t number, const Turn& turn) {
  return fmt::format("{:4}  {:>9.3f} s {:>9.3f} s  {:>+8.2f} %", number, wire::seconds(turn.alone),
                     wire::seconds(turn.watched), 100 * share(turn));
}

}  // namespace

Effect effect_of(std::span<const Turn> turns) {
  Effect effect;
  const double count = double(turns.size());
  for (const Turn& turn : turns) effect.difference += share(turn) / count;
  double squares = 0;
  for (const Turn& turn : turns) squares += std::pow(share(turn) - effect.difference, 2);
  if (turns.size() > 1) effect.error = std::sqrt(squares / (count - 1) / count);
  return effect;
}

std::string effect_in_words(std::span<const Turn> turns) {
  const Effect effect = effect_of(turns);
  const std::string difference = fmt::format("watched: {:+.2f} %", 100 * effect.difference);
  if (!effect.error) return difference + " (of one turn, which tells no error)";
  const char* verdict = !effect.is_seen()       ? "no more than the runs differ by themselves"
                        : effect.difference > 0 ? "the program takes longer when it is watched"
                                                : "the program takes less time when it is watched";
  return fmt::format("{} ± {:.2f} % (mean and standard error of {} turns): {}", difference, 100 * *effect.error,
                     turns.size(), verdict);
}

std::string effect_json(std::span<const Turn> turns) {
  support::Json list = support::Json::array();
  for (const Turn& turn : turns)
    list.push_back({{"alone_s", wire::seconds(turn.alone)}, {"watched_s", wire::seconds(turn.watched)}});
  const Effect effect = effect_of(turns);
  support::Json json = {{"turns", list}, {"difference", effect.difference}};
  json["difference_error"] = effect.error ? support::Json(*effect.error) : support::Json();
  return json.text() + "\n";
}

int selftest(const RunOptions& options, int output_fd) {
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(input, STDIN_FILENO);
  const int output = own_fd(output_fd, O_WRONLY);
  ProgramSignals signals;
  std::vector<Turn> turns;
  for (int turn = 0; turn < options.turns; ++turn) {
    Turn& now = turns.emplace_back();
    for (const bool watched : {turn % 2 == 1, turn % 2 == 0}) {
      const Run run =
          watched ? run_watched(options, output, signals)
                  : run_alone(options, {.environment = {}, .input_fd = input, .output_fd = output, .error_fd = output},
                              signals);
      if (const auto* failure = std::get_if<Failure>(&run)) return fail(failure->reason, failure->code);
      (watched ? now.watched : now.alone) = std::get<Nanoseconds>(run);
    }
    if (!options.json && turns.size() == 1) print("turn       alone     watched  difference\n");
    if (!options.json) print(turn_in_words(turns.size(), now) + "\n");
    std::fflush(stdout);
  }
  print(options.json ? effect_json(turns) : effect_in_words(turns) + "\n");
  return 0;
}

}  // namespace idlewave::cli
