#include "workloads/sim/main/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "workloads/sim/main/parts.h"
#include "workloads/support/quantity.h"

namespace idlewave::sim {
namespace {

constexpr Rank kMostFactor = 100'000'000;

constexpr const char* kFooter =
    "Ctrl-C ends a run with what it has: its result so far, marked as interrupted; a recording that ends there;\n"
    "a live session that says that it is over. A sweep, a comparison with a recording and a schedule end without a "
    "result.\n"
    "Exit code: 0, also of a run that Ctrl-C ended with what it had; 1 if a run failed, or was interrupted without a\n"
    "result (a schedule: 130, by the signal itself); 2 if the input can't be taken, as one line says.\n"
    "Under mpirun or srun the ranks share out the runs of a --sweep.";

void add_options(CLI::App& app, Options& o) {
  sweep::add_options(app, o);
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
           const auto duration = support::parse_duration(text);
           if (!duration) throw CLI::ValidationError("--duration", duration.error().message);
           o.duration = *duration;
         },
         "With --realtime: end after so long")
      ->type_name("TIME");
  app.add_flag("--without-delays", o.without_delays, "Leave the scenario's delays to whoever watches");
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
  if (o.study && (o.scenario.empty() || !o.goal.empty() || o.streams() || !o.record.empty()))
    throw CLI::ValidationError("--study", "goes with a scenario, without --goal, --record and --stream");
  if (o.step_start && sweeps) throw CLI::ValidationError("--step-start", "goes without --sweep");
  if (!o.sweep.empty() && (o.streams() || !o.record.empty() || !o.goal.empty()))
    throw CLI::ValidationError("--sweep", "goes without --record, --stream and --goal");
}

}  // namespace

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
    if (const auto checked = sweep::check(options); !checked)
      return {std::nullopt, complain(checked.error().message, kBadInput)};
  } catch (const CLI::Success& done) {
    return {std::nullopt, app.exit(done)};
  } catch (const CLI::Error& error) {
    return {std::nullopt, complain(error.what(), kBadInput)};
  }
  return {std::move(options), 0};
}

}  // namespace idlewave::sim
