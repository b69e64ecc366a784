#include "workloads/sim/sweep/cores.h"

#include <algorithm>
#include <thread>

namespace idlewave::sim::sweep {

cpu_set_t usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return cores;
  // More cores than the set has room for.
  const unsigned count = std::min<unsigned>(std::max(1u, std::thread::hardware_concurrency()), CPU_SETSIZE);
  for (unsigned core = 0; core < count; ++core) CPU_SET(core, &cores);
  return cores;
}

std::vector<int> share_cores(std::span<const cpu_set_t> usable) {
  std::vector<int> shares(usable.size(), 0);
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    int* fewest = nullptr;
    for (std::size_t i = 0; i < usable.size(); ++i) {
      if (CPU_ISSET(core, &usable[i]) && (fewest == nullptr || shares[i] < *fewest)) fewest = &shares[i];
    }
    if (fewest != nullptr) ++*fewest;
  }
  for (int& share : shares) share = std::max(share, 1);
  return shares;
}

}  // namespace idlewave::sim::sweep
