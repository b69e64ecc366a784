#include "workloads/distributed/seat.h"

#include <idlewave/probe.h>
#include <unistd.h>

#include <algorithm>

#include "workloads/ranks/agreement.h"
#include "workloads/ranks/domain.h"
#include "workloads/ranks/sharing.h"

namespace idlewave::distributed {

using kernels::VirtualSocket;

std::optional<Seats> take_seats(const Sockets& sockets, int threads, const ranks::Group& world,
                                const ranks::Group& node) {
  const ranks::Domain domain = ranks::virtual_domain(world.ranks, node, sockets.ranks_per_domain);
  const auto curve = kernels::BandwidthCurve::saturating(sockets.core_bandwidth, sockets.domain_bandwidth);
  auto shared = ranks::share<VirtualSocket>(domain.group, domain.group.size * threads, curve);
  if (!ranks::all_succeeded(world.ranks, shared ? wire::ok() : wire::Status{shared.error()})) return std::nullopt;
  Seats seats{std::make_shared<VirtualSocket>(std::move(*shared))};
  wire::Status opened = wire::ok();
  while (int(seats.size()) < threads && opened) {
    auto again = VirtualSocket::open(getpid(), seats.front()->descriptor(), curve);
    opened = again ? wire::ok() : wire::Status{again.error()};
    if (again) seats.push_back(std::make_shared<VirtualSocket>(std::move(*again)));
  }
  if (!ranks::all_succeeded(world.ranks, opened)) return std::nullopt;
  for (int thread = 0; thread < threads; ++thread)
    seats[std::size_t(thread)]->take_seat(domain.group.rank * threads + thread);
  idlewave_set_domain(domain.id, 1, std::min(threads * sockets.core_bandwidth, sockets.domain_bandwidth),
                      sockets.domain_bandwidth);
  return seats;
}

std::optional<std::shared_ptr<VirtualSocket>> take_seat(const Sockets& sockets, const ranks::Group& world,
                                                        const ranks::Group& node) {
  const auto seats = take_seats(sockets, 1, world, node);
  if (!seats) return std::nullopt;
  return seats->front();
}

}  // namespace idlewave::distributed
