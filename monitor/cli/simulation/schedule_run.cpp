#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "monitor/cli/simulation/frames.h"
#include "monitor/cli/simulation/schedule_file.h"
#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "workloads/sim/network/extrapolate.h"
#include "workloads/sim/network/goal_run.h"
#include "workloads/sim/network/schedule_simulation.h"
#include "workloads/sim/noise/make_noise.h"
#include "workloads/sim/simulator.h"
#include "workloads/sim/sweep/console.h"
#include "workloads/support/memory_limit.h"
#include "workloads/support/noise_trace.h"

namespace idlewave::cli::simulation {
namespace {

namespace network = sim::network;
using json = nlohmann::ordered_json;
using network::GoalRun;
using network::GoalSchedule;

constexpr std::size_t kMostStuckLines = 10;
/// An operation, with what it waits for; while the schedule is put together.
constexpr double kExtrapolatedBytes = 80;

/// Parameters that are not given are those with which LogGOPSim starts.
constexpr std::string_view kNetworkOnly = R"(
[machine]
ranks = 1
ranks_per_domain = 1
[program]
steps = 1
kernel = "core"
time = "1 ms"
[communication]
L = "2500 ns"
o = "1500 ns"
g = "1000 ns"
G = "6 ns/B"
O = "0 ns/B"
S = "65535 B"
)";

/// On what a schedule runs.
struct Surroundings {
  support::LogGops network;
  /// None: calculations share nothing.
  std::optional<support::Machine> machine;
  /// Null: silent.
  std::unique_ptr<sim::core::PhaseNoise> noise;
};

/// Of a scenario its kernel says whether calculations share memory; without one, whether bandwidths are given.
wire::Result<std::optional<support::Machine>> machine_of(const support::Scenario& scenario, bool from_file) {
  const support::Machine& machine = scenario.machine;
  const bool core = machine.core_bandwidth > 0, domain = machine.domain_bandwidth > 0;
  if (from_file) return scenario.program.kernel == support::Kernel::kMemory ? std::optional(machine) : std::nullopt;
  if (core != domain)
    return wire::Error{
        fmt::format("--set: machine.{} is missing; memory domains need core_bandwidth and domain_bandwidth, or a curve",
                    core ? "domain_bandwidth" : "core_bandwidth")};
  if (!core && machine.ranks_per_domain > 1)
    return wire::Error{
        "--set: machine.ranks_per_domain needs core_bandwidth and domain_bandwidth, or a curve, beside it"};
  return core ? std::optional(machine) : std::nullopt;
}

wire::Result<Surroundings> surroundings_of(const ScheduleOptions& options) {
  const bool from_file = !options.scenario.empty();
  auto scenario = from_file ? support::load_scenario(options.scenario, options.settings)
                            : support::parse_scenario(kNetworkOnly, "--set", options.settings);
  if (!scenario) return scenario.error();
  if (!scenario->communication.loggops)
    return wire::Error{options.scenario.string() +
                       ": communication has no LogGOPS parameters (L, o, g, G, O, S) for --goal"};
  const auto machine = machine_of(*scenario, from_file);
  if (!machine) return machine.error();
  const auto trace = support::load_noise_trace(scenario->noise, options.scenario.parent_path());
  if (!trace) return trace.error();
  auto noise = sim::noise::make_noise(scenario->noise, *trace);
  if (!noise) return noise.error();
  return Surroundings{*scenario->communication.loggops, *machine, std::move(*noise)};
}

/// A schedule, and of what it was extrapolated.
struct Given {
  GoalSchedule schedule;
  struct Origin {
    Rank ranks = 0;
    /// That were found and written anew.
    std::size_t collectives = 0;
  };
  std::optional<Origin> origin;
};

wire::Result<Given> extrapolated(const GoalSchedule& schedule, Rank factor) {
  const auto found = network::find_collectives(schedule);
  const double bytes = kExtrapolatedBytes * network::ops_of_extrapolation(schedule, found, factor);
  if (const auto room = support::check_memory(std::size_t(std::min(bytes, 1e18)), "extrapolate to fewer ranks"); !room)
    return room.error();
  auto larger = network::extrapolate(schedule, found, factor);
  if (!larger) return wire::Error{"--" + larger.error().message};
  return Given{std::move(*larger), Given::Origin{schedule.ranks(), found.calls.size()}};
}

wire::Result<Given> given_by(const ScheduleOptions& options) {
  auto schedule = read_schedule(options.schedule);
  if (!schedule) return schedule.error();
  if (options.extrapolate.value_or(1) == 1) return Given{std::move(*schedule), std::nullopt};
  return extrapolated(*schedule, *options.extrapolate);
}

// --- the result ---

std::int64_t makespan_ns(const GoalRun& run) {
  return run.finish_ns.empty() ? 0 : *std::ranges::max_element(run.finish_ns);
}

std::string json_of(const GoalRun& run, double wall_s, const std::optional<Given::Origin>& origin) {
  json object = {{"makespan_s", double(makespan_ns(run)) * 1e-9},
                 {"ops", run.ops},
                 {"messages", run.messages},
                 {"wall_s", wall_s},
                 {"complete", run.complete()}};
  if (origin) object["extrapolated"] = {{"from_ranks", origin->ranks}, {"collectives", origin->collectives}};
  object["finish_ns"] = run.finish_ns;
  return object.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

std::string text_of(const GoalRun& run, double wall_s, const std::optional<Given::Origin>& origin) {
  const std::string source =
      origin
          ? fmt::format("extrapolated from {} ranks: {} collective{} written anew, other messages at their distance\n",
                        origin->ranks, origin->collectives, origin->collectives == 1 ? "" : "s")
          : "";
  return source + fmt::format(
                      "{} ranks, {} operations, {} message{}: makespan {} ns\nsimulated in {:.3g} s, {:.3g} million "
                      "operations a second\n",
                      run.finish_ns.size(), run.ops, run.messages, run.messages == 1 ? "" : "s", makespan_ns(run),
                      wall_s, double(run.ops) * 1e-6 / std::max(wall_s, 1e-9));
}

void name_the_stuck(const GoalRun& run) {
  const std::size_t lines = std::min(run.stuck.size(), kMostStuckLines);
  for (std::size_t i = 0; i < lines; ++i) fail(describe(run.stuck[i]), 1);
  if (lines < run.stuck.size()) fail(fmt::format("... and {} more that wait", run.stuck.size() - lines), 1);
}

/// Runs it once more; Ctrl-C leaves a sound session up to there.
wire::Status record(const network::ScheduledProgram& program, const ScheduleOptions& options) {
  const support::Scenario scenery = network::scenery_of(program);
  const auto model = sim::model_of(scenery);
  if (!model) return model.error();
  if (const wire::Status fits = sim::emitter::check_session(scenery, *model); !fits) return fits;
  Frames frames(options.session);
  if (const wire::Status opened = frames.into_file(options.record, "--goal " + options.schedule.string()); !opened)
    return opened;
  sim::emitter::Emitter emitter(scenery, *model, options.schedule.stem(), frames);
  const auto simulation = network::simulate(program, emitter, &sim::sweep::interrupted());
  if (!simulation) return simulation.error();
  if (const wire::Status told = (*simulation)->advance_until(std::numeric_limits<double>::max()); !told) return told;
  emitter.finish((*simulation)->time());
  if (!(*simulation)->finished())
    fail(fmt::format("{}: interrupted, ends at {:.6g} s of simulated time", options.record, (*simulation)->time()), 0);
  return frames.end();
}

}  // namespace

int run(const ScheduleOptions& options) {
  auto surroundings = surroundings_of(options);
  if (!surroundings) return fail(surroundings.error().message, 2);
  if (!options.record.empty()) {
    if (const auto free = check_free(options.record); !free) return fail(free.error().message, 2);
  }
  auto given = given_by(options);
  if (!given) return fail(given.error().message, 2);
  if (!options.output.empty()) {
    if (const auto written = write_schedule(given->schedule, options.output); !written)
      return fail(written.error().message, 1);
  }
  const network::ScheduledProgram program{std::move(given->schedule), surroundings->network, surroundings->machine,
                                          std::move(surroundings->noise)};
  const auto begin = std::chrono::steady_clock::now();
  const auto result = network::run(program);
  if (!result) return fail(result.error().message, 2);
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!options.record.empty()) {
    if (const auto recorded = record(program, options); !recorded) return fail(recorded.error().message, 1);
  }
  print(options.json ? json_of(*result, wall_s, given->origin) : text_of(*result, wall_s, given->origin));
  name_the_stuck(*result);
  return result->complete() ? 0 : 1;
}

}  // namespace idlewave::cli::simulation
