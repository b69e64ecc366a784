#include "probe/sampler/virtual_sockets.h"

#include <algorithm>

namespace idlewave::sampler {

void VirtualSockets::observe_model(DomainId domain, std::uint64_t total) {
  Socket& socket = sockets_[domain];
  // The total falls when the rank that was furthest ahead left, or a second program made the socket anew; neither moved
  // bytes back.
  if (total < socket.total) socket.told = total - std::min(total, socket.total - socket.told);
  socket.total = total;
}

void VirtualSockets::begin(DomainId domain, Nanoseconds now) {
  Socket& socket = sockets_[domain];
  socket.told = socket.total;
  socket.told_at = now;
}

std::optional<std::uint64_t> VirtualSockets::sample(DomainId domain, Nanoseconds now) {
  Socket& socket = sockets_[domain];
  if (now - socket.told_at < kInterval) return std::nullopt;
  const std::uint64_t moved = socket.total - socket.told;
  socket.told = socket.total;
  socket.told_at = now;
  return moved;
}

}  // namespace idlewave::sampler
