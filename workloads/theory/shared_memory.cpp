#include "workloads/theory/shared_memory.h"

#include <algorithm>

namespace idlewave::theory {

double step_time(const ContendedStep& step) {
  const double memory = step.memory * step.memory_loss, network = step.network * step.network_loss;
  return std::min(memory, network) +
         std::max((memory - network) / step.memory_loss, (network - memory) / step.network_loss);
}

double best_accelerator_share(double cpu, double accelerator, const ContendedStep& step) {
  constexpr int kHalvings = 60;
  const auto accelerator_is_first = [&](double share) {
    ContendedStep rest = step;
    rest.memory = cpu * (1 - share);
    return accelerator * share < step_time(rest);
  };
  double less = 0, more = 1;
  if (accelerator_is_first(more)) return more;
  for (int i = 0; i < kHalvings; ++i) {
    const double share = (less + more) / 2;
    (accelerator_is_first(share) ? less : more) = share;
  }
  return less;
}

}  // namespace idlewave::theory
