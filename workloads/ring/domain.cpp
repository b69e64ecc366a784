#include "workloads/ring/domain.h"

#include <sched.h>

namespace idlewave::ring {

Domain virtual_domain(MPI_Comm ranks, const ranks::Group& node, int ranks_per_domain) {
  const int id = ranks::group_of(ranks).rank / ranks_per_domain;
  return {id, ranks::part_of(node.ranks, id)};
}

Domain numa_domain(const ranks::Group& node) {
  unsigned core = 0;
  unsigned numa_node = 0;
  getcpu(&core, &numa_node);
  const int id = static_cast<int>(numa_node);
  return {id, ranks::part_of(node.ranks, id)};
}

}  // namespace idlewave::ring
