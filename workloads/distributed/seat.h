#pragma once
// Where a rank works when its work is waiting.

#include <memory>
#include <optional>
#include <vector>

#include "workloads/kernels/virtual_socket.h"
#include "workloads/ranks/place.h"

namespace idlewave::distributed {

/// Virtual sockets of so many ranks each, bytes per second; core_bandwidth is that of a thread.
struct Sockets {
  int ranks_per_domain = 10;
  double core_bandwidth = 0;
  double domain_bandwidth = 0;
};

/// A seat for each thread of a rank, all on one of them, which the probe is told of. The thread that takes them lives as
/// long as the rank. Nothing after a failure, which has been reported. Collective.
using Seats = std::vector<std::shared_ptr<kernels::VirtualSocket>>;
std::optional<Seats> take_seats(const Sockets& sockets, int threads, const ranks::Group& world,
                                const ranks::Group& node);

/// A seat on one of them, which the probe is told of. Nothing after a failure, which has been reported. Collective.
std::optional<std::shared_ptr<kernels::VirtualSocket>> take_seat(const Sockets& sockets, const ranks::Group& world,
                                                                 const ranks::Group& node);

}  // namespace idlewave::distributed
