#include "workloads/theory/exchange.h"

#include <algorithm>

namespace idlewave::theory {

NodeNetwork sr8000() {
  constexpr double kMessage = 1e6, kProcesses = 8, kEqual = 32768;
  const NodeNetwork without_latency{kProcesses * kMessage / 19.2e-3, kProcesses * kMessage / 9.6e-3, kMessage / 2e-3,
                                    0};
  NodeNetwork network = without_latency;
  network.latency = masteronly_time(without_latency, int(kProcesses), kEqual) -
                    pure_mpi_time(without_latency, int(kProcesses), kEqual);
  return network;
}

double vertical_time(const NodeNetwork& network, int processes, int communicating, double bytes) {
  return network.latency + processes * bytes / std::min(communicating * network.process, network.node);
}

double horizontal_time(const NodeNetwork& network, double bytes) { return network.latency + bytes / network.memory; }

double pure_mpi_time(const NodeNetwork& network, int processes, double bytes) {
  return vertical_time(network, processes, processes, bytes) + horizontal_time(network, bytes);
}

double masteronly_time(const NodeNetwork& network, int processes, double bytes) {
  return vertical_time(network, processes, 1, bytes);
}

}  // namespace idlewave::theory
