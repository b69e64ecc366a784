#include "workloads/internode/network.h"

#include <fmt/format.h>

#include "workloads/ranks/agreement.h"
#include "workloads/ranks/sharing.h"
#include "workloads/support/pause.h"

namespace idlewave::internode {
namespace {

using kernels::BandwidthCurve;
using kernels::VirtualSocket;
using support::monotonic_now;
using wire::Error;
using wire::Status;

void sleep_for(double seconds) {
  support::sleep_until(monotonic_now() + wire::Nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

/// Collective.
Status check_sizes(const ranks::Group& world, int own_size) {
  int smallest = own_size, largest = own_size;
  MPI_Allreduce(MPI_IN_PLACE, &smallest, 1, MPI_INT, MPI_MIN, world.ranks);
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT, MPI_MAX, world.ranks);
  if (smallest == largest) return wire::ok();
  return Error{fmt::format("nodes have from {} to {} of the {} ranks; start equally many on each", smallest, largest,
                           world.size)};
}

/// Collective.
Status check_together(const Seat& seat) {
  if (ranks::node_of(seat.own.ranks).size == seat.own.size) return wire::ok();
  return Error{
      "the ranks of a virtual node share no memory; give a number of ranks for it that divides those of a node"};
}

}  // namespace

std::optional<Seat> take_seat(const ranks::Group& world, int ranks_per_node) {
  Seat seat;
  seat.own =
      ranks_per_node == 0 ? ranks::node_of(world.ranks) : ranks::part_of(world.ranks, world.rank / ranks_per_node);
  if (!ranks::all_succeeded(world.ranks, check_sizes(world, seat.own.size))) return std::nullopt;
  seat.column = ranks::part_of(world.ranks, seat.own.rank);
  seat.nodes = seat.column.size;
  seat.node = seat.column.rank;
  MPI_Bcast(&seat.node, 1, MPI_INT, 0, seat.own.ranks);  // whoever is first there numbers the node
  return seat;
}

std::optional<std::shared_ptr<VirtualNetwork>> join_network(const Network& network, const ranks::Group& world,
                                                            const Seat& seat) {
  if (network.kind == NetworkKind::kReal) return nullptr;
  if (!ranks::all_succeeded(world.ranks, check_together(seat))) return std::nullopt;
  const auto curve = BandwidthCurve::saturating(network.model.process, network.model.node);
  auto adapter = ranks::share<VirtualSocket>(seat.own, seat.own.size, curve);
  if (!ranks::all_succeeded(world.ranks, adapter ? wire::ok() : Status{adapter.error()})) return std::nullopt;
  adapter->take_seat(seat.own.rank);
  return std::make_shared<VirtualNetwork>(network.model, std::move(*adapter));
}

void VirtualNetwork::send_to_other_node(std::size_t bytes) {
  sleep_for(network_.latency);
  adapter_.move(bytes);
}

void VirtualNetwork::send_within_node(std::size_t bytes) {
  sleep_for(network_.latency + double(bytes) / network_.memory);
}

}  // namespace idlewave::internode
