#include "workloads/ranks/domain.h"

#include <sched.h>

namespace idlewave::ranks {

Domain virtual_domain(MPI_Comm ranks, const Group& node, int ranks_per_domain) {
  const int id = group_of(ranks).rank / ranks_per_domain;
  return {id, part_of(node.ranks, id)};
}

Domain numa_domain(const Group& node) {
  unsigned core = 0;
  unsigned numa_node = 0;
  getcpu(&core, &numa_node);
  const int id = static_cast<int>(numa_node);
  return {id, part_of(node.ranks, id)};
}

}  // namespace idlewave::ranks
