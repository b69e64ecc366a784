#include "workloads/sim/core/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "workloads/sim/core/bandwidth.h"

namespace idlewave::sim::core {
namespace {

using support::Kernel;
using support::Scenario;
using wire::Error;

constexpr std::size_t kMaxDistances = 1000;

double seconds_of(support::Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

wire::Status check_machine(const support::Machine& machine) {
  if (machine.ranks < 1) return Error{fmt::format("machine.ranks: {}; a simulation needs at least 1", machine.ranks)};
  if (machine.ranks_per_domain < 1) {
    return Error{fmt::format("machine.ranks_per_domain: {}; a simulation needs at least 1", machine.ranks_per_domain)};
  }
  return wire::ok();
}

wire::Status check_program(const support::Program& program) {
  if (!support::is_model(program.kernel)) {
    return Error{fmt::format("program.kernel: \"{}\" needs real cores; the simulator takes \"memory\" or \"core\"",
                             support::name_of(program.kernel))};
  }
  if (program.steps < 1) return Error{fmt::format("program.steps: {}; at least 1", program.steps)};
  if (program.kernel == Kernel::kMemory && program.volume == 0) {
    return Error{"program.volume: 0 B; must be above zero"};
  }
  if (program.kernel == Kernel::kCore && program.time.count() <= 0) {
    return Error{fmt::format("program.time: {} ns; must be above zero", program.time.count())};
  }
  return wire::ok();
}

wire::Status check_communication(const support::Communication& communication, Step steps) {
  if (communication.collective) return Error{"communication.collective: is not for the engine of contention domains"};
  if (communication.loggops) {
    return Error{"communication: LogGOPS parameters; here the transfer time is needed as time"};
  }
  if (communication.time.count() < 0) {
    return Error{fmt::format("communication.time: {} ns; must not be below zero", communication.time.count())};
  }
  const std::size_t distances = communication.distances.size();
  if (distances > kMaxDistances) {
    return Error{fmt::format("communication.distances: {} of them; at most {}", distances, kMaxDistances)};
  }
  const Step most = std::numeric_limits<std::int32_t>::max() / static_cast<Step>(std::max<std::size_t>(1, distances));
  if (steps < most) return wire::ok();
  return Error{fmt::format("program.steps: {}; below {} with {} distances", steps, most, distances)};
}

wire::Status check_delays(const Scenario& scenario) {
  for (const support::Delay& delay : scenario.delays) {
    if (delay.rank < 0 || delay.rank >= scenario.machine.ranks) {
      return Error{fmt::format("delay.rank: {}; from 0 to {}", delay.rank, scenario.machine.ranks - 1)};
    }
    if (delay.step < 0 || delay.step >= scenario.program.steps) {
      return Error{fmt::format("delay.step: {}; from 0 to {}", delay.step, scenario.program.steps - 1)};
    }
    if (delay.duration.count() < 0) {
      return Error{fmt::format("delay.duration: {} ns; must not be below zero", delay.duration.count())};
    }
  }
  return wire::ok();
}

wire::Status check(const Scenario& scenario) {
  if (const auto machine = check_machine(scenario.machine); !machine) return machine;
  if (const auto program = check_program(scenario.program); !program) return program;
  const auto communication = check_communication(scenario.communication, scenario.program.steps);
  return communication ? check_delays(scenario) : communication;
}

wire::Result<std::vector<double>> seconds_of_work(const Scenario& scenario) {
  const Rank most = std::min(scenario.machine.ranks, scenario.machine.ranks_per_domain);
  std::vector<double> seconds(static_cast<std::size_t>(most) + 1, seconds_of(scenario.program.time));
  if (scenario.program.kernel == Kernel::kCore) return seconds;
  const auto volume = static_cast<double>(scenario.program.volume);
  for (Rank active = 1; active <= most; ++active) {
    const double all = bandwidth(scenario.machine, static_cast<std::size_t>(active));
    if (!(all > 0) || !std::isfinite(all)) {
      return Error{fmt::format("machine: {} B/s for {} active ranks; bandwidths must be above zero", all, active)};
    }
    const double work = active * volume / all;
    if (work > kLongestRun) {
      constexpr const char* kTooSlow =
          "machine: at {} B/s of {} active ranks a step's work takes {:.3g} s; at most 73 years";
      return Error{fmt::format(kTooSlow, all, active, work)};
    }
    seconds[static_cast<std::size_t>(active)] = work;
  }
  return seconds;
}

bool is_rendezvous(const support::Communication& communication) {
  if (communication.protocol != support::Protocol::kAuto) {
    return communication.protocol == support::Protocol::kRendezvous;
  }
  return communication.message_size > kEagerLimit;
}

Delays delays_of(const Scenario& scenario) {
  Delays delays;
  for (const support::Delay& delay : scenario.delays) delays[{delay.rank, delay.step}] += seconds_of(delay.duration);
  return delays;
}

}  // namespace

wire::Result<Model> model_of(const Scenario& scenario) {
  if (const auto checked = check(scenario); !checked) return checked.error();
  auto seconds = seconds_of_work(scenario);
  if (!seconds) return seconds.error();
  const bool rendezvous = is_rendezvous(scenario.communication);
  return Model{.ranks = scenario.machine.ranks,
               .ranks_per_domain = scenario.machine.ranks_per_domain,
               .steps = scenario.program.steps,
               .core_bound = scenario.program.kernel == Kernel::kCore,
               .rendezvous = rendezvous,
               .transfer = seconds_of(scenario.communication.time),
               .partners = Partners{scenario.communication, scenario.machine.ranks, rendezvous},
               .seconds = std::move(*seconds),
               .delays = delays_of(scenario)};
}

}  // namespace idlewave::sim::core
