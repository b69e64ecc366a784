// iw-contention: what communication and computation cost each other in memory. See `iw-contention --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include <variant>

#include "probe/wire/last_words.h"
#include "workloads/contention/measure.h"
#include "workloads/contention/options.h"
#include "workloads/contention/report.h"
#include "workloads/ranks/agreement.h"
#include "workloads/ranks/domain.h"
#include "workloads/ranks/place.h"

namespace idlewave::contention {
namespace {

constexpr int kSuccess = 0;
constexpr int kFailed = 1;
constexpr int kBadInput = 2;

/// How many there are on all nodes. Collective.
int count_domains(MPI_Comm ranks, const ranks::Domain& domain) {
  int domains = domain.group.rank == 0;
  MPI_Allreduce(MPI_IN_PLACE, &domains, 1, MPI_INT, MPI_SUM, ranks);
  return domains;
}

int run_contention(const Options& options, const ranks::Group& world) {
  const ranks::Group node = ranks::node_of(world.ranks);
  if (options.pin) ranks::pin_in_turn(node);
  idlewave_start(world.rank, world.size);
  const ranks::Domain domain = options.ranks_per_domain == 0
                                   ? ranks::numa_domain(node)
                                   : ranks::virtual_domain(world.ranks, node, options.ranks_per_domain);
  const int domains = count_domains(world.ranks, domain);
  const auto points = measure(options, world.ranks, node, domain, domains);
  idlewave_stop();
  if (!points) return kFailed;
  if (world.rank == 0)
    fmt::print("{}", options.json ? json(options, *points, domains) + "\n" : table(*points, domains));
  return kSuccess;
}

int run_program(int argc, char** argv) try {
  const ranks::Group world = ranks::group_of(MPI_COMM_WORLD);
  const auto parsed = parse_options(argc, argv);
  if (!parsed) {
    if (world.rank == 0) ranks::complain(parsed.error());
    MPI_Barrier(MPI_COMM_WORLD);  // the line is out before the first rank that ends makes the launcher end the others
    return kBadInput;
  }
  if (const auto* text = std::get_if<Text>(&*parsed)) {
    if (world.rank == 0) fmt::print("{}", text->text);
    return kSuccess;
  }
  return run_contention(std::get<Options>(*parsed), world);
} catch (...) {
  ranks::complain({wire::last_words()});
  MPI_Abort(MPI_COMM_WORLD, kBadInput);  // the others wait for this rank
  return kBadInput;
}

}  // namespace
}  // namespace idlewave::contention

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = idlewave::contention::run_program(argc, argv);
  MPI_Finalize();
  return status;
}
