// iw-orthogonal: vertical and horizontal messages, or vertical ones by one process. See `iw-orthogonal --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include <limits>

#include "probe/words/quantity.h"
#include "workloads/internode/orthogonal_measure.h"
#include "workloads/internode/orthogonal_report.h"
#include "workloads/ranks/count.h"
#include "workloads/ranks/program.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::internode {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;
using wire::Error;
using wire::Status;

Status check_nodes(const Seat& seat) {
  if (seat.nodes > 1) return wire::ok();
  return Error{
      fmt::format("all there is, {}, is on one node, which has no next one; start them on several, or have ranks "
                  "taken for nodes by --ranks-per-node N, where N is a divisor of {}",
                  ranks::ranks_in_words(seat.own.size), seat.own.size)};
}

Status check_communicating(const OrthogonalOptions& options, const Seat& seat) {
  for (const int number : options.communicating)
    if (number > seat.own.size)
      return Error{fmt::format("--communicating: {} are more than the {} processes of a node", number, seat.own.size)};
  return wire::ok();
}

/// Before anything is allocated: what each process of this node sends and receives, for its node and for itself.
Status check_sizes(const OrthogonalOptions& options, const ranks::Group& world, const Seat& seat) {
  const double of_node = double(options.sizes.back()) * seat.own.size;
  if (of_node > std::numeric_limits<int>::max())
    return Error{fmt::format("--sizes: {} processes of a node send {} in one message, which may have 2147483647 B",
                             seat.own.size, words::format_bytes(std::uint64_t(of_node)))};
  const int processes = ranks::node_of(world.ranks).size;
  const double bytes = 2 * (of_node + options.sizes.back()) * processes;
  return support::check_memory(std::size_t(bytes), "give smaller --sizes, or start it on more nodes", processes);
}

Status check(const OrthogonalOptions& options, const ranks::Group& world, const Seat& seat) {
  return ranks::first_failure(
      {check_nodes(seat), check_communicating(options, seat), check_sizes(options, world, seat)});
}

int run_orthogonal(const OrthogonalOptions& options, const ranks::Group& world) {
  const auto seat = take_seat(world, options.ranks_per_node);
  if (!seat || !ranks::all_succeeded(world.ranks, check(options, world, *seat))) return kBadInput;
  const auto network = join_network(options.network, world, *seat);
  if (!network) return kBadInput;
  idlewave_start(world.rank, world.size);
  if (options.ranks_per_node > 0) idlewave_set_domain(seat->node, 1, 0, 0);
  const Figures figures = measure_orthogonal(options, world, *seat, network->get());
  idlewave_stop();
  if (world.rank == 0) fmt::print("{}", options.json ? json(options, figures) + "\n" : tables(options, figures));
  return ranks::all_succeeded(world.ranks, ranks::check_messages(figures.wrong)) ? kSuccess : kFailed;
}

}  // namespace
}  // namespace idlewave::internode

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv,
      [](int count, char** words, const ranks::Group& world) {
        return internode::parse_orthogonal(count, words, world.size);
      },
      [](const internode::OrthogonalOptions& options, const ranks::Group& world) {
        return internode::run_orthogonal(options, world);
      });
}
