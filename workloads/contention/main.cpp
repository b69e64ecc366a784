// iw-contention: what communication and computation cost each other in memory. See `iw-contention --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include "workloads/contention/measure.h"
#include "workloads/contention/options.h"
#include "workloads/contention/report.h"
#include "workloads/ranks/domain.h"
#include "workloads/ranks/place.h"
#include "workloads/ranks/program.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::contention {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;

/// How many there are on all nodes. Collective.
int count_domains(MPI_Comm ranks, const ranks::Domain& domain) {
  int domains = domain.group.rank == 0;
  MPI_Allreduce(MPI_IN_PLACE, &domains, 1, MPI_INT, MPI_SUM, ranks);
  return domains;
}

/// Before anything is allocated: the message of each domain's first rank, and the arrays of the others. Collective over
/// the node.
wire::Status check_memory(const Options& options, const ranks::Group& node, const ranks::Domain& domain) {
  std::uint64_t bytes = memory_of(options, node, domain);
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_SUM, node.ranks);
  return support::check_memory(bytes, "give a smaller --message-size, or start fewer ranks on a node", node.size);
}

int run_contention(const Options& options, const ranks::Group& world) {
  const ranks::Group node = ranks::node_of(world.ranks);
  if (options.pin) ranks::pin_in_turn(node);
  const ranks::Domain domain = options.ranks_per_domain == 0
                                   ? ranks::numa_domain(node)
                                   : ranks::virtual_domain(world.ranks, node, options.ranks_per_domain);
  if (!ranks::all_succeeded(world.ranks, check_memory(options, node, domain))) return kBadInput;
  idlewave_start(world.rank, world.size);
  const int domains = count_domains(world.ranks, domain);
  const auto measured = measure(options, world.ranks, node, domain, domains);
  idlewave_stop();
  if (!measured) return kFailed;
  if (world.rank == 0)
    fmt::print("{}", options.json ? json(options, *measured, domains) + "\n" : table(*measured, domains));
  return kSuccess;
}

}  // namespace
}  // namespace idlewave::contention

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv, [](int count, char** words, const ranks::Group&) { return contention::parse_options(count, words); },
      [](const contention::Options& options, const ranks::Group& world) {
        return contention::run_contention(options, world);
      });
}
