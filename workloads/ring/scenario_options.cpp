#include "workloads/ring/scenario_options.h"

#include <fmt/format.h>

#include "workloads/support/real_ranks.h"

namespace idlewave::ring {
namespace {

using support::Scenario;
using wire::Error;
using wire::Status;

bool is_core_bound(Kernel kernel) { return kernel == Kernel::kCore || kernel == Kernel::kDivide; }

Status check_ranks(const Scenario& scenario, Rank ranks) {
  const Rank wanted = scenario.machine.ranks;
  if (wanted > 0 && wanted != ranks) {
    return Error{fmt::format(
        "machine.ranks: the scenario has {} ranks, and {} were started; start {}, or give --set machine.ranks={}",
        wanted, ranks, wanted, ranks)};
  }
  for (const Delay& delay : scenario.delays) {
    if (delay.rank >= ranks)
      return Error{fmt::format("delay.rank: there is no rank {}; ranks go from 0 to {}", delay.rank, ranks - 1)};
  }
  return wire::ok();
}

void obey(const support::Machine& machine, Options& options) {
  options.ranks_per_domain = machine.ranks_per_domain;
  options.core_bandwidth = machine.core_bandwidth;
  options.domain_bandwidth = machine.domain_bandwidth;
  options.curve = machine.curve;
}

void obey(const Scenario& scenario, Options& options) {
  const support::Program& program = scenario.program;
  options.kernel = program.kernel;
  options.volume = is_core_bound(program.kernel) ? 0 : program.volume;
  options.time = is_core_bound(program.kernel) ? program.time : Nanoseconds{};
  options.steps = program.steps;
  obey(scenario.machine, options);
  const support::Communication& communication = scenario.communication;
  options.topology = communication.topology;
  options.distances = communication.distances;
  options.message_size = static_cast<int>(communication.message_size);
  options.protocol = communication.protocol;
  options.wait = communication.wait;
  options.delays = scenario.delays;
  options.noise = scenario.noise;
}

}  // namespace

Status read_scenario(const std::filesystem::path& path, const std::vector<std::string>& settings, Rank ranks,
                     Options& options) {
  const auto scenario = support::load_scenario(path, settings);
  if (!scenario) return scenario.error();
  auto fits = support::playable_by_real_ranks(*scenario);
  if (fits) fits = check_ranks(*scenario, ranks);
  if (!fits) return Error{fmt::format("{}: {}", path.string(), fits.error().message)};
  auto trace = support::load_noise_trace(scenario->noise, path.parent_path());
  if (!trace) return trace.error();
  obey(*scenario, options);
  options.noise_trace = std::move(*trace);
  return wire::ok();
}

Status read_machine(const std::filesystem::path& path, Options& options) {
  // A machine file is read as what it changes of a scenario, here of one that says nothing else.
  constexpr std::string_view kScenario =
      "[machine]\nranks = 1\n[program]\nsteps = 1\nkernel = \"memory\"\nvolume = \"1 B\"\n";
  const auto machine = support::load_machine(path);
  if (!machine) return machine.error();
  const auto scenario = support::parse_scenario(kScenario, path.string(), support::settings_of(*machine));
  if (!scenario) return scenario.error();
  obey(scenario->machine, options);
  return wire::ok();
}

}  // namespace idlewave::ring
