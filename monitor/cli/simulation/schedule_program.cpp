#include "monitor/cli/simulation/schedule_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "monitor/cli/simulation/schedule_file.h"
#include "monitor/cli/verbs.h"
#include "workloads/sim/emitter/emitter.h"
#include "workloads/sim/network/extrapolate.h"
#include "workloads/sim/network/schedule_waits.h"
#include "workloads/sim/noise/make_noise.h"
#include "workloads/support/memory_limit.h"
#include "workloads/support/noise_trace.h"

namespace idlewave::cli::simulation {
namespace {

namespace network = sim::network;
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

wire::Result<Surroundings> surroundings_of(const ScheduleSource& source) {
  const bool from_file = !source.scenario.empty();
  auto scenario = from_file ? support::load_scenario(source.scenario, source.settings)
                            : support::parse_scenario(kNetworkOnly, "--set", source.settings);
  if (!scenario) return scenario.error();
  if (!scenario->communication.loggops)
    return wire::Error{source.scenario.string() +
                       ": communication has no LogGOPS parameters (L, o, g, G, O, S) for --goal"};
  const auto machine = machine_of(*scenario, from_file);
  if (!machine) return machine.error();
  const auto trace = support::load_noise_trace(scenario->noise, source.scenario.parent_path());
  if (!trace) return trace.error();
  auto noise = sim::noise::make_noise(scenario->noise, *trace);
  if (!noise) return noise.error();
  return Surroundings{*scenario->communication.loggops, *machine, std::move(*noise)};
}

struct Extrapolated {
  GoalSchedule schedule;
  std::optional<Origin> origin;
};

wire::Result<Extrapolated> extrapolated(const GoalSchedule& schedule, Rank factor) {
  const auto found = network::find_collectives(schedule);
  const double bytes = kExtrapolatedBytes * network::ops_of_extrapolation(schedule, found, factor);
  if (const auto room = support::check_memory(std::size_t(std::min(bytes, 1e18)), "extrapolate to fewer ranks"); !room)
    return room.error();
  auto larger = network::extrapolate(schedule, found, factor);
  if (!larger) return wire::Error{"--" + larger.error().message};
  return Extrapolated{std::move(*larger), Origin{schedule.ranks(), found.calls.size()}};
}

wire::Result<Extrapolated> schedule_of(const ScheduleSource& source) {
  auto schedule = read_schedule(source.schedule);
  if (!schedule) return schedule.error();
  if (source.extrapolate.value_or(1) == 1) return Extrapolated{std::move(*schedule), std::nullopt};
  return extrapolated(*schedule, *source.extrapolate);
}

}  // namespace

wire::Result<GivenSchedule> given_by(const ScheduleSource& source) {
  auto surroundings = surroundings_of(source);
  if (!surroundings) return surroundings.error();
  auto given = schedule_of(source);
  if (!given) return given.error();
  return GivenSchedule{
      {std::move(given->schedule), surroundings->network, surroundings->machine, std::move(surroundings->noise)},
      given->origin};
}

wire::Result<Stage> stage_of(const network::ScheduledProgram& program) {
  support::Scenario scenery = network::scenery_of(program);
  auto model = sim::model_of(scenery);
  if (!model) return model.error();
  sim::core::WaitTable waits = network::waits_of(program);
  if (const wire::Status fits = sim::emitter::check_session(scenery, *model, waits); !fits) return fits.error();
  return Stage{std::move(scenery), std::move(*model), std::move(waits)};
}

void name_the_stuck(const network::GoalRun& run) {
  const std::size_t lines = std::min(run.stuck.size(), kMostStuckLines);
  for (std::size_t i = 0; i < lines; ++i) fail(describe(run.stuck[i]), 1);
  if (lines < run.stuck.size()) fail(fmt::format("... and {} more that wait", run.stuck.size() - lines), 1);
}

}  // namespace idlewave::cli::simulation
