#include "workloads/sim/network/costs.h"

namespace idlewave::sim::network {

namespace {

bool is_cost(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

wire::Status check_costs(const support::LogGops& network) {
  if (network.latency.count() < 0 || network.overhead.count() < 0 || network.gap.count() < 0)
    return wire::Error{"loggops: L, o and g must not be negative"};
  if (!is_cost(network.gap_per_byte) || !is_cost(network.overhead_per_byte) || network.gap_per_byte > 1 ||
      network.overhead_per_byte > 1)
    return wire::Error{"loggops: G and O must lie between 0 and 1 s/B"};
  return wire::ok();
}

}  // namespace idlewave::sim::network
