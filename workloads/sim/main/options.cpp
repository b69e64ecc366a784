#include "workloads/sim/main/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>

#include "probe/words/quantity.h"
#include "workloads/sim/main/parts.h"

namespace idlewave::sim {
namespace {

constexpr std::uint64_t kMostValues = 100'000;
constexpr Rank kMostFactor = 100'000'000;
constexpr int kMostThreads = 4096;

constexpr const char* kFooter =
    "Ctrl-C ends a run with what it has: its result so far, marked as interrupted; a recording that ends there;\n"
    "a live session that says that it is over. A sweep, a comparison with a recording and a schedule end without a "
    "result.\n"
    "Exit code: 0, also of a run that Ctrl-C ended with what it had; 1 if a run failed, or was interrupted without a\n"
    "result (a schedule: 130, by the signal itself); 2 if the input can't be taken, as one line says.\n"
    "Under mpirun or srun the ranks share out the runs of a --sweep.";

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "1..10": every whole number from one to the other.
std::optional<std::vector<std::string>> range_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto first = whole(std::string_view(text).substr(0, dots)),
             last = whole(std::string_view(text).substr(dots + 2));
  if (!first || !last || *last < *first || std::uint64_t(*last) - std::uint64_t(*first) >= kMostValues)
    return std::nullopt;
  std::vector<std::string> values;
  for (std::int64_t value = *first; value <= *last; ++value) values.push_back(std::to_string(value));
  return values;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("scenario", o.scenario, "Scenario file (TOML)")->type_name("FILE");
  app.add_option("--set", o.settings, "Another value for a key of the scenario, as in machine.ranks=4000")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option_function<std::vector<std::string>>(
         "--sweep",
         [&o](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             auto key = parse_sweep(text);
             if (!key) throw CLI::ValidationError("--sweep", key.error().message);
             o.sweep.push_back(std::move(*key));
           }
         },
         "One run for each value, on all cores: machine.ranks_per_domain=1..10 or delay.0.duration=0.6s,1.2s; several "
         "make all combinations")
      ->type_name("KEY=VALUES")
      ->allow_extra_args(false);
  app.add_option("--against", o.against,
                 "With --sweep: each run also with this setting; speedup is the one makespan over the other")
      ->type_name("KEY=VALUE");
  app.add_option("--csv", o.csv, "With --sweep: the rows as CSV; - is stdout")->type_name("FILE");
  app.add_flag("--chart", o.chart, "With --against: draw speedup over the first numeric key of the sweep");
  app.add_flag("--study", o.study, "Sweep and chart as the scenario's [study] says");
  app.add_option_function<int>(
         "--threads", [&o](int threads) { o.threads = threads; },
         "With --sweep: runs at the same time, on each rank (one for each core)")
      ->type_name("N")
      ->check(CLI::Range(1, kMostThreads));
  app.add_option("--goal", o.goal,
                 "A GOAL schedule on the scenario's LogGOPS network, memory domains (kernel memory) and noise; without "
                 "a scenario --set loggops.L=2500ns, machine.core_bandwidth=..., noise.distribution=... say all")
      ->type_name("FILE");
  app.add_option("--from", o.from,
                 "A recorded session: derives ranks, domains, work, partners and delays from it, simulates the same "
                 "program, and prints both side by side")
      ->type_name("FILE");
  app.add_option("--extrapolate", o.extrapolate,
                 "With --goal or --from: the same program on K times as many ranks; collectives of a schedule are "
                 "written anew for all, other messages keep their distance")
      ->type_name("K")
      ->check(CLI::Range(Rank{1}, kMostFactor));
  app.add_option("-o,--output", o.output, "With --goal and --extrapolate: also write the schedule, as GOAL text")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--window",
         [&o](const std::string& text) {
           const auto window = words::parse_window(text);
           if (!window) throw CLI::ValidationError("--window", window.error().message);
           o.window = *window;
         },
         "Part of the run for the averages, as fractions of the makespan (0.5:0.95)")
      ->type_name("FROM:TO");
  app.add_option_function<Step>(
         "--step-start", [&o](Step step) { o.step_start = step; }, "Also tell when each rank began this step")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--record", o.record, "Write a session file for `idlewave replay` and `report`")->type_name("FILE");
  app.add_option("--stream", o.listen, "Be watched: monitors attach to this endpoint, as in tcp://*:5555")
      ->type_name("ENDPOINT");
  app.add_option("--connect", o.connect, "Be watched by the monitor that listens there")->type_name("ENDPOINT");
  app.add_option("--key", o.key,
                 "Key file, for tcp. With --connect: the session's key.agent. With --stream: its key.server; without "
                 "one new keys are made, and named on stderr")
      ->type_name("FILE");
  app.add_option("--session", o.session, "Name of the session (simulation)")->type_name("NAME");
  app.add_flag("--allow-inject", o.allow_inject, "Let whoever watches order delays and noise");
  app.add_flag("--realtime", o.realtime, "As fast as the simulated program would run");
  app.add_option_function<std::string>(
         "--duration",
         [&o](const std::string& text) {
           const auto duration = words::parse_duration(text);
           if (!duration) throw CLI::ValidationError("--duration", duration.error().message);
           o.duration = *duration;
         },
         "With --realtime: end after so long")
      ->type_name("TIME");
  app.add_flag("--without-delays", o.without_delays, "Leave the scenario's delays to whoever watches");
  app.add_flag("--json", o.json, "Print the result as JSON");
}

void check(const CLI::App& app, const Options& o) {
  if (app.count("--extrapolate") > 0 && o.goal.empty() && o.from.empty())
    throw CLI::ValidationError("--extrapolate", "goes with --goal or --from; a scenario has --set machine.ranks=N");
  if (!o.output.empty() && (o.goal.empty() || app.count("--extrapolate") == 0))
    throw CLI::ValidationError("--output", "goes with --goal and --extrapolate");
  const int inputs = int(!o.scenario.empty() && o.goal.empty()) + int(!o.goal.empty()) + int(!o.from.empty());
  if (inputs != 1)
    throw CLI::ValidationError("scenario",
                               "name a scenario file, or a schedule with --goal, or a recording with --from");
  if (!o.from.empty() && (o.streams() || !o.record.empty() || !o.sweep.empty() || o.step_start))
    throw CLI::ValidationError("--from", "goes with --set, --window and --json");
  if (o.streams() && !o.realtime)
    throw CLI::ValidationError("--stream", "goes with --realtime; to simulate as fast as possible, --record a file");
  if (!o.key.empty() && !o.streams())
    throw CLI::ValidationError("--key", "goes with --stream ENDPOINT or --connect ENDPOINT");
  if (o.realtime && !o.streams())
    throw CLI::ValidationError("--realtime", "goes with --stream ENDPOINT or --connect ENDPOINT");
  if (o.duration && !o.realtime)
    throw CLI::ValidationError("--duration", "goes with --realtime; fewer steps end a run that is as fast as possible");
  if (o.streams() && !o.record.empty())
    throw CLI::ValidationError("--record", "goes without --stream and --connect; the monitor that watches can record");
  if (!o.goal.empty() && (o.streams() || !o.record.empty() || o.step_start))
    throw CLI::ValidationError("--goal", "goes without --record, --stream, --connect and --step-start");
  const bool sweeps = !o.sweep.empty() || o.study;
  if (!o.against.empty() && !sweeps) throw CLI::ValidationError("--against", "goes with --sweep");
  if (!o.csv.empty() && !sweeps) throw CLI::ValidationError("--csv", "goes with --sweep");
  if (o.chart && o.against.empty() && !o.study)
    throw CLI::ValidationError("--chart", "goes with --against, whose speedup it draws");
  if (o.study && (!o.sweep.empty() || !o.against.empty()))
    throw CLI::ValidationError("--study", "says itself what to sweep; leave out --sweep and --against");
  if (o.study && (o.scenario.empty() || !o.goal.empty() || o.streams() || !o.record.empty()))
    throw CLI::ValidationError("--study", "goes with a scenario, without --goal, --record and --stream");
  if (o.json && (o.chart || o.csv == "-"))
    throw CLI::ValidationError("--json", "goes without --chart and --csv -, which go to stdout as well");
  if (o.step_start && sweeps) throw CLI::ValidationError("--step-start", "goes without --sweep");
  if (!o.sweep.empty() && (o.streams() || !o.record.empty() || !o.goal.empty()))
    throw CLI::ValidationError("--sweep", "goes without --record, --stream and --goal");
  if (o.threads && o.sweep.empty())
    throw CLI::ValidationError("--threads", "goes with --sweep; a single run takes one core");
}

}  // namespace

wire::Result<SweptKey> parse_sweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    return wire::Error{fmt::format("'{}': accepted are KEY=FIRST..LAST and KEY=VALUE,VALUE,...", text)};
  }
  SweptKey key{text.substr(0, equals), {}};
  const std::string values = text.substr(equals + 1);
  if (auto range = range_of(values))
    key.values = std::move(*range);
  else if (values.find("..") != std::string::npos)
    return wire::Error{
        fmt::format("'{}': a range is FIRST..LAST of whole numbers, at most {} of them", text, kMostValues)};
  else
    key.values = CLI::detail::split(values, ',');
  return key;
}

Parsed parse(int argc, char** argv) {
  CLI::App app{
      "Simulates bulk-synchronous programs on shared memory interfaces, and message schedules on a network, exactly "
      "and reproducibly",
      "idlewave sim"};
  app.set_version_flag("--version", std::string("idlewave ") + IDLEWAVE_VERSION);
  app.footer(kFooter);
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
    check(app, options);
  } catch (const CLI::Success& done) {
    return {std::nullopt, app.exit(done)};
  } catch (const CLI::Error& error) {
    return {std::nullopt, complain(error.what(), kBadInput)};
  }
  return {std::move(options), 0};
}

}  // namespace idlewave::sim
