#include "workloads/support/real_ranks.h"

#include <fmt/format.h>

#include <limits>

namespace idlewave::support {

namespace {

wire::Error refusal(std::string_view key, std::string_view why) {
  return {fmt::format("{}: {}; leave it out, or simulate the scenario", key, why)};
}

/// A real loop runs on the cores that are there, with the bandwidth that they have.
wire::Status of_real_loop(const Scenario& scenario) {
  const Machine& machine = scenario.machine;
  const char* key = machine.ranks_per_domain > 0   ? "machine.ranks_per_domain"
                    : !machine.curve.empty()       ? "machine.curve"
                    : machine.core_bandwidth > 0   ? "machine.core_bandwidth"
                    : machine.domain_bandwidth > 0 ? "machine.domain_bandwidth"
                                                   : nullptr;
  if (key == nullptr) return wire::ok();
  return wire::Error{
      fmt::format("{}: the kernel {} is a real loop on the cores and memory that are there; leave it out", key,
                  name_of(scenario.program.kernel))};
}

}  // namespace

wire::Status playable_by_real_ranks(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  if (communication.collective)
    return refusal("communication.collective", "iw-ring talks to its neighbours and calls no collective");
  if (communication.loggops)
    return refusal("communication.L, o, g, G, O, S", "real messages take what MPI and the machine take");
  if (communication.time > Nanoseconds::zero())
    return refusal("communication.time", "real messages take what MPI and the machine take");
  if (communication.message_size > std::uint64_t(std::numeric_limits<int>::max()))
    return refusal("communication.message_size", "MPI sends at most 2147483647 B at once");
  return is_model(scenario.program.kernel) ? wire::ok() : of_real_loop(scenario);
}

}  // namespace idlewave::support
