#include "monitor/link/channels.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace idlewave::link {
namespace {

/// Of each channel in one turn, so that none holds up another.
constexpr std::size_t kReadOfChannel = 16u << 10;
/// Less is not worth a frame: the other end has room for three times as much.
constexpr std::uint32_t kWorthTelling = kWindow / 4;

bool is_for_later(int reason) { return reason == EAGAIN || reason == EINTR; }

}  // namespace

bool Channels::add(std::uint32_t number, int socket) {
  if (channels_.size() < kMostChannels && channels_.emplace(number, Channel{.socket = socket}).second) return true;
  if (socket >= 0) close(socket);
  return false;
}

bool Channels::hear(const TunnelFrame& frame) {
  const auto found = channels_.find(frame.channel);
  if (found == channels_.end() || found->second.heard_close) return false;
  Channel& channel = found->second;
  if (frame.kind == TunnelKind::kClose) return channel.heard_close = true;
  if (frame.kind == TunnelKind::kTaken) {
    const std::uint32_t bytes = number_in(frame.body);
    if (bytes == 0 || bytes > kWindow - channel.room) return false;
    channel.room += bytes;
    return true;
  }
  if (frame.body.size() > kWindow - channel.untold) return false;
  channel.untold += std::uint32_t(frame.body.size());
  if (channel.socket >= 0) channel.coming.insert(channel.coming.end(), frame.body.begin(), frame.body.end());
  return true;
}

/// Frames are put only where the ones before have gone, so that those of all channels fit between, and none piles up.
void Channels::serve() {
  trunk_.flush();
  const bool is_free = trunk_.is_idle();
  for (auto& [number, channel] : channels_) {
    deliver(channel);
    if (!is_free) continue;
    collect(number, channel);
    tell(number, channel);
  }
  std::erase_if(channels_, [](const auto& entry) {
    return entry.second.said_close && entry.second.heard_close && entry.second.socket < 0;
  });
  trunk_.flush();
  if (!trunk_.cut().empty()) return close_all();
  for (const auto& [number, channel] : channels_) watch(channel);
}

void Channels::deliver(Channel& channel) {
  while (channel.socket >= 0 && channel.written < channel.coming.size()) {
    const ssize_t count = send(channel.socket, channel.coming.data() + channel.written,
                               channel.coming.size() - channel.written, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && is_for_later(errno)) return forget_written(channel);
    if (count < 0) return shut(channel);
    channel.written += std::size_t(count);
    channel.taken += std::uint32_t(count);
  }
  channel.coming.clear();
  channel.written = 0;
  if (channel.heard_close) shut(channel);
}

/// In steps that are worth moving the rest.
void Channels::forget_written(Channel& channel) {
  if (channel.written < kWorthTelling) return;
  channel.coming.erase(channel.coming.begin(), channel.coming.begin() + std::ptrdiff_t(channel.written));
  channel.written = 0;
}

void Channels::collect(std::uint32_t number, Channel& channel) {
  if (channel.socket < 0 || channel.heard_close || channel.room == 0) return;
  std::array<std::byte, kReadOfChannel> buffer;
  const std::size_t most = std::min<std::size_t>(channel.room, buffer.size());
  const ssize_t count = recv(channel.socket, buffer.data(), most, MSG_DONTWAIT);
  if (count < 0 && is_for_later(errno)) return;
  if (count <= 0) return shut(channel);
  channel.room -= std::uint32_t(count);
  trunk_.put(TunnelKind::kData, number, std::span(buffer).first(std::size_t(count)));
}

void Channels::tell(std::uint32_t number, Channel& channel) {
  if (channel.taken >= kWorthTelling && !channel.heard_close) {
    trunk_.put(TunnelKind::kTaken, number, body_of(channel.taken));
    channel.untold -= std::exchange(channel.taken, 0);
  }
  if (channel.socket >= 0 || std::exchange(channel.said_close, true)) return;
  trunk_.put(TunnelKind::kClose, number);
}

/// What it has not taken is nobody's any more.
void Channels::shut(Channel& channel) {
  if (channel.socket < 0) return;
  watch_.set(channel.socket, 0);
  close(std::exchange(channel.socket, -1));
  channel.coming = {};
  channel.written = 0;
}

void Channels::close_all() {
  for (auto& [number, channel] : channels_) shut(channel);
  channels_.clear();
}

void Channels::watch(const Channel& channel) {
  if (channel.socket < 0) return;
  const bool reads = channel.room > 0 && trunk_.is_idle() && !channel.heard_close;
  watch_.set(channel.socket, (reads ? EPOLLIN : 0u) | (channel.coming.empty() ? 0u : std::uint32_t(EPOLLOUT)));
}

}  // namespace idlewave::link
