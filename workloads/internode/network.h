#pragma once
// Nodes that are there or that ranks are taken for, and a network between them that exists in shared memory only.

#include <memory>
#include <optional>

#include "workloads/internode/network_flags.h"
#include "workloads/kernels/virtual_socket.h"
#include "workloads/ranks/place.h"

namespace idlewave::internode {

/// Where a rank is among nodes of equally many ranks.
struct Seat {
  int node = 0;
  int nodes = 1;
  ranks::Group own;     ///< The ranks of its node; its rank in it is its place there.
  ranks::Group column;  ///< Those that have the same place, one of each node.
};

/// `ranks_per_node`: so many ranks, in their order, are taken for a node; 0: those that are on one. Nothing after a
/// failure, which has been reported: nodes of different sizes. Collective.
std::optional<Seat> take_seat(const ranks::Group& world, int ranks_per_node);

/// The way of a node's processes to other nodes as a virtual socket: to send is to wait for as long as it would take
/// while as many others do, and then to have MPI carry it.
class VirtualNetwork {
 public:
  /// `adapter`: that of the node, with a seat taken.
  VirtualNetwork(const theory::NodeNetwork& network, kernels::VirtualSocket adapter)
      : network_(network), adapter_(std::move(adapter)) {}

  void send_to_other_node(std::size_t bytes);
  void send_within_node(std::size_t bytes);

 private:
  theory::NodeNetwork network_;
  kernels::VirtualSocket adapter_;
};

/// Null for a network that is real. Nothing after a failure, which has been reported: the ranks of a virtual node share no
/// memory. Collective.
std::optional<std::shared_ptr<VirtualNetwork>> join_network(const Network& network, const ranks::Group& world,
                                                            const Seat& seat);

}  // namespace idlewave::internode
