#include "workloads/ranks/place.h"

#include <fmt/format.h>
#include <sched.h>

#include <vector>

#include "workloads/support/pause.h"

namespace idlewave::ranks {
namespace {

bool all_have(const Group& group, const cpu_set_t& cores) {
  cpu_set_t in_all = cores;
  cpu_set_t in_any = cores;
  MPI_Allreduce(&cores, &in_all, sizeof cores, MPI_BYTE, MPI_BAND, group.ranks);
  MPI_Allreduce(&cores, &in_any, sizeof cores, MPI_BYTE, MPI_BOR, group.ranks);
  return CPU_EQUAL(&in_all, &in_any);
}

}  // namespace

Group group_of(MPI_Comm ranks) {
  Group group{ranks};
  MPI_Comm_rank(ranks, &group.rank);
  MPI_Comm_size(ranks, &group.size);
  return group;
}

Group node_of(MPI_Comm ranks) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  return group_of(node);
}

Group part_of(MPI_Comm ranks, int colour) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(ranks, colour, 0, &part);
  return group_of(part);
}

void pin_in_turn(const Group& node, int cores) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || !all_have(node, allowed)) return;
  std::vector<int> all;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) all.push_back(core);
  }
  cpu_set_t own;
  CPU_ZERO(&own);
  for (int i = 0; i < cores; ++i)
    CPU_SET(all[(static_cast<std::size_t>(node.rank) * static_cast<std::size_t>(cores) + static_cast<std::size_t>(i)) %
                all.size()],
            &own);
  sched_setaffinity(0, sizeof own, &own);
}

wire::Status check_cores(int threads) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return wire::ok();
  const int cores = CPU_COUNT(&allowed);
  if (threads <= cores) return wire::ok();
  return wire::Error{
      fmt::format("--threads: {} are asked for, and this process may use {} core{}; give at most so many, or bind "
                  "it to more (Open MPI: mpirun --bind-to none)",
                  threads, cores, cores == 1 ? "" : "s")};
}

wire::Nanoseconds start_together(MPI_Comm ranks, const Group& node) {
  constexpr auto kForAllToHear = std::chrono::milliseconds{50};
  MPI_Barrier(ranks);
  std::int64_t start = (support::monotonic_now() + kForAllToHear).count();
  MPI_Bcast(&start, 1, MPI_INT64_T, 0, node.ranks);
  support::sleep_until(wire::Nanoseconds{start});
  return wire::Nanoseconds{start};
}

}  // namespace idlewave::ranks
