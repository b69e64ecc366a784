#include "probe/sampler/virtual_sockets.h"

#include <algorithm>

namespace idlewave::sampler {

/// A socket that has said nothing for longer stands still.
constexpr Nanoseconds kLongestStep = kInterval / 2;

void VirtualSockets::observe_model(DomainId domain, const ModelTotal& total) {
  Socket& socket = sockets_[domain];
  // The total falls when the rank that was furthest ahead left, or a second program made the socket anew; neither moved
  // bytes back.
  if (total.bytes < socket.total.bytes) {
    socket.told = total.bytes - std::min(total.bytes, socket.total.bytes - std::min(socket.told, socket.total.bytes));
    socket.before = total;
  }
  socket.total = total;
}

void VirtualSockets::begin(DomainId domain, Nanoseconds now) {
  Socket& socket = sockets_[domain];
  socket.told = socket.total.bytes;
  socket.before = socket.total;
  socket.told_at = now;
}

std::optional<std::uint64_t> VirtualSockets::sample(DomainId domain, Nanoseconds now) {
  Socket& socket = sockets_[domain];
  if (socket.is_first_told()) begin(domain, now);
  if (now - socket.told_at < kInterval) return std::nullopt;
  const std::uint64_t all = std::max(socket.told, socket.moved_until(now));
  const std::uint64_t moved = all - socket.told;
  socket.told = all;
  socket.before = socket.total;
  socket.told_at = now;
  return moved;
}

/// Ranks say the times, hence any may be there.
std::uint64_t VirtualSockets::Socket::moved_until(Nanoseconds now) const {
  const bool times_are_known = before.at > Nanoseconds(0) && before.at < total.at && total.at <= now;
  if (!times_are_known || now - total.at > kLongestStep) return total.bytes;
  const double rate = double(total.bytes - before.bytes) / double((total.at - before.at).count());
  const double ahead = std::min(rate * double((now - total.at).count()), 0x1p62);
  return total.bytes + std::min(std::uint64_t(ahead), ~total.bytes);
}

}  // namespace idlewave::sampler
