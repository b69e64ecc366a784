#include "workloads/distributed/seat.h"

#include <idlewave/probe.h>

#include "workloads/ranks/agreement.h"
#include "workloads/ranks/domain.h"
#include "workloads/ranks/sharing.h"

namespace idlewave::distributed {

using kernels::VirtualSocket;

std::optional<std::shared_ptr<VirtualSocket>> take_seat(const Sockets& sockets, const ranks::Group& world,
                                                        const ranks::Group& node) {
  const ranks::Domain domain = ranks::virtual_domain(world.ranks, node, sockets.ranks_per_domain);
  const auto curve = kernels::BandwidthCurve::saturating(sockets.core_bandwidth, sockets.domain_bandwidth);
  auto shared = ranks::share<VirtualSocket>(domain.group, domain.group.size, curve);
  if (!ranks::all_succeeded(world.ranks, shared ? wire::ok() : wire::Status{shared.error()})) return std::nullopt;
  auto socket = std::make_shared<VirtualSocket>(std::move(*shared));
  socket->take_seat(domain.group.rank);
  idlewave_set_domain(domain.id, 1, sockets.core_bandwidth, sockets.domain_bandwidth);
  return socket;
}

}  // namespace idlewave::distributed
