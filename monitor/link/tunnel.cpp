#include "monitor/link/tunnel.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "probe/session/files.h"
#include "probe/wire/printable.h"

namespace idlewave::link {
namespace {

using TunnelClock = std::chrono::steady_clock;

constexpr GreetingKind kOfAgents{.word = "idlewave-agents", .version = "1", .fields = 1};
constexpr auto kSignEvery = std::chrono::minutes(1);
/// Where the network is gone nothing else tells; a host that was stopped may come back.
constexpr auto kQuietHost = std::chrono::minutes(30);
constexpr std::size_t kMostTroubles = 64;

/// -1: nobody takes it now. Whoever was carried here connects again.
int connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/// Both ends treat what only the other may say alike.
std::string what_nobody_says(const TunnelFrame& frame) {
  return "what came is out of place: kind " + std::to_string(int(frame.kind)) + " of channel " +
         std::to_string(frame.channel);
}

bool is_of_a_channel(TunnelKind kind) {
  return kind == TunnelKind::kData || kind == TunnelKind::kTaken || kind == TunnelKind::kClose;
}

}  // namespace

AgentsEnd::AgentsEnd(int in, int out, int listener, const std::string& session)
    : trunk_(in, out, watch_), channels_(trunk_, watch_), listener_(listener) {
  trunk_.greet(greeting_line(kOfAgents, {session}));
}

void AgentsEnd::serve() {
  trunk_.serve();
  while (const auto frame = trunk_.take()) {
    heard_at_ = TunnelClock::now();
    if (!hear(*frame)) trunk_.cut(what_nobody_says(*frame));
  }
  if (TunnelClock::now() - heard_at_ > kQuietHost) trunk_.cut("the host has said nothing for half an hour");
  const bool takes_more = accept_some();
  channels_.serve();
  watch_.set(listener_, takes_more && trunk_.cut().empty() ? EPOLLIN : 0u);
}

bool AgentsEnd::hear(const TunnelFrame& frame) {
  if (is_of_a_channel(frame.kind)) return channels_.hear(frame);
  if (frame.kind == TunnelKind::kFinish) return is_told_to_finish_ = true;
  return frame.kind == TunnelKind::kSign;
}

/// False: there are as many as can be; later, perhaps.
bool AgentsEnd::accept_some() {
  while (channels_.size() < kMostChannels) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) return errno == EAGAIN;
    if (!session::is_of_our_user(socket)) {
      close(socket);
      continue;
    }
    trunk_.put(TunnelKind::kOpen, next_);
    channels_.add(next_++, socket);
  }
  return false;
}

void AgentsEnd::say_all(const std::vector<std::string>& troubles) {
  if (std::exchange(has_said_all_, true)) return;
  for (const std::string& line : std::span(troubles).first(std::min(troubles.size(), kMostTroubles))) {
    const auto text = std::as_bytes(std::span(line)).first(std::min(line.size(), kMostTrouble));
    if (!text.empty()) trunk_.put(TunnelKind::kTrouble, 0, text);
  }
  trunk_.put(TunnelKind::kDone);
}

HostsEnd::HostsEnd(int in, int out, std::string session, std::string socket)
    : trunk_(in, out, watch_), channels_(trunk_, watch_), session_(std::move(session)), socket_(std::move(socket)) {}

void HostsEnd::serve() {
  trunk_.serve();
  if (!is_up_) greet();
  while (is_up_) {
    const auto frame = trunk_.take();
    if (!frame) break;
    if (!hear(*frame)) trunk_.cut(what_nobody_says(*frame));
  }
  give_sign();
  channels_.serve();
}

void HostsEnd::greet() {
  const auto fields = trunk_.take_greeting(kOfAgents);
  if (!fields) return;
  is_up_ = true;
  if (fields->front() != session_)
    trunk_.cut("it carries the agents of session '" + wire::printable(fields->front()) + "'");
}

bool HostsEnd::hear(const TunnelFrame& frame) {
  if (is_of_a_channel(frame.kind)) return channels_.hear(frame);
  if (frame.kind == TunnelKind::kOpen) return channels_.add(frame.channel, connect_to(socket_));
  if (frame.kind == TunnelKind::kDone) return is_done_ = true;
  if (frame.kind != TunnelKind::kTrouble || troubles_.size() == kMostTroubles) return false;
  troubles_.emplace_back(reinterpret_cast<const char*>(frame.body.data()), frame.body.size());
  return true;
}

void HostsEnd::give_sign() {
  const auto now = TunnelClock::now();
  if (!is_up_ || now - signed_at_ < kSignEvery || !trunk_.is_idle()) return;
  signed_at_ = now;
  trunk_.put(TunnelKind::kSign);
}

std::string HostsEnd::last_noise() const {
  return is_up_ || !trunk_.has_ended() ? std::string() : std::string(trunk_.rest());
}

void HostsEnd::let_go() {
  channels_.close_all();
  trunk_.let_go();
}

void HostsEnd::finish() { trunk_.put(TunnelKind::kFinish); }

}  // namespace idlewave::link
