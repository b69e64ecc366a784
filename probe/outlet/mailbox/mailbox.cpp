#include "probe/outlet/mailbox/mailbox.h"

#include <zmq.hpp>

#include <chrono>
#include <optional>

#include "probe/outlet/mailbox/endpoint.h"
#include "probe/wire/frame.h"

namespace idlewave::mailbox {
namespace {

using std::chrono::milliseconds;

// No ZMQ_HEARTBEAT: in libzmq 4.3.4 its timer aborts the process when the receive queue of a connection is full (libzmq
// issues 4364 and 3937), which any stranger can bring about. Both ends of a stream ask each other anyway; that makes
// the system notice a dead network.
constexpr int kUnacknowledgedMs = 10'000;  // Of TCP data, after which the connection is closed.
constexpr int kReconnectMs = 50;
constexpr int kReconnectMaxMs = 1000;

zmq::socket_t make_socket(zmq::context_t& context, zmq::socket_type type, const std::string& endpoint,
                          const Options& options) {
  zmq::socket_t socket(context, type);
  socket.set(zmq::sockopt::linger, static_cast<int>(std::chrono::ceil<milliseconds>(options.linger).count()));
  socket.set(zmq::sockopt::sndhwm, options.queue_messages);
  socket.set(zmq::sockopt::rcvhwm, options.queue_messages);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(wire::kMaxFrameBytes));
  socket.set(zmq::sockopt::tcp_maxrt, kUnacknowledgedMs);
  socket.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
  return socket;
}

/// A signal in the middle of a message must not leave half of it behind.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    try {
      return call();
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;
    }
  }
}

bool receive_part(zmq::socket_t& socket, zmq::message_t& part) {
  return uninterrupted([&] { return socket.recv(part, zmq::recv_flags::dontwait).has_value(); });
}

bool send_part(zmq::socket_t& socket, const void* data, std::size_t size, zmq::send_flags flags) {
  return uninterrupted(
      [&] { return socket.send(zmq::const_buffer(data, size), flags | zmq::send_flags::dontwait).has_value(); });
}

bool receive_from(zmq::socket_t& socket, bool names_peer, Message& message) {
  zmq::message_t part;
  if (!receive_part(socket, part)) return false;
  message.peer.clear();
  message.bytes.clear();
  if (names_peer) {
    message.peer = part.to_string();
    if (!part.more() || !receive_part(socket, part)) return true;
  }
  if (!part.more()) {
    const auto* bytes = part.data<const std::byte>();
    message.bytes.assign(bytes, bytes + part.size());
  }
  while (part.more() && receive_part(socket, part)) {
  }
  return true;
}

}  // namespace

struct Mailbox::Impl {
  zmq::context_t context{1};
  std::optional<zmq::socket_t> router;
  std::optional<zmq::socket_t> dealer;
  std::string listen_endpoint;

  wire::Status listen(const Options& options) {
    if (auto free = clear_stale_socket(options.listen); !free) return free;
    router = make_socket(context, zmq::socket_type::router, options.listen, options);
    // Without it a ROUTER drops what it can't deliver, silently.
    router->set(zmq::sockopt::router_mandatory, true);
    router->bind(options.listen);
    listen_endpoint = router->get(zmq::sockopt::last_endpoint);
    return wire::ok();
  }

  void connect(const Options& options) {
    dealer = make_socket(context, zmq::socket_type::dealer, options.connect, options);
    // Nothing is queued for a peer that is not there: it would get requests that were made long ago.
    dealer->set(zmq::sockopt::immediate, true);
    dealer->set(zmq::sockopt::reconnect_ivl, kReconnectMs);
    dealer->set(zmq::sockopt::reconnect_ivl_max, kReconnectMaxMs);
    dealer->connect(options.connect);
  }
};

wire::Result<std::unique_ptr<Mailbox>> Mailbox::open(const Options& options) {
  for (const std::string& endpoint : {options.listen, options.connect}) {
    if (endpoint.empty()) continue;
    if (auto valid = check_endpoint(endpoint); !valid) return valid.error();
  }
  const std::string* endpoint = &options.listen;
  try {
    auto impl = std::make_unique<Impl>();
    if (!options.listen.empty())
      if (auto listens = impl->listen(options); !listens) return listens.error();
    endpoint = &options.connect;
    if (!options.connect.empty()) impl->connect(options);
    return std::unique_ptr<Mailbox>(new Mailbox(std::move(impl)));
  } catch (const zmq::error_t& error) {
    return endpoint_error(*endpoint, error.num());
  }
}

Mailbox::Mailbox(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Mailbox::~Mailbox() = default;

Sent Mailbox::send(const Peer& peer, std::span<const std::byte> bytes) {
  zmq::socket_t& socket = peer.empty() ? *impl_->dealer : *impl_->router;
  try {
    if (!peer.empty() && !send_part(socket, peer.data(), peer.size(), zmq::send_flags::sndmore)) return Sent::kFull;
    return send_part(socket, bytes.data(), bytes.size(), zmq::send_flags::none) ? Sent::kYes : Sent::kFull;
  } catch (const zmq::error_t&) {
    return Sent::kGone;  // EHOSTUNREACH: no connection has that name.
  }
}

bool Mailbox::receive(Message& message) {
  if (impl_->router && receive_from(*impl_->router, true, message)) return true;
  return impl_->dealer && receive_from(*impl_->dealer, false, message);
}

bool Mailbox::wait(wire::Nanoseconds timeout, int extra_fd) {
  std::vector<zmq::pollitem_t> items;
  if (impl_->router) items.push_back({impl_->router->handle(), 0, ZMQ_POLLIN, 0});
  if (impl_->dealer) items.push_back({impl_->dealer->handle(), 0, ZMQ_POLLIN, 0});
  if (extra_fd >= 0) items.push_back({nullptr, extra_fd, ZMQ_POLLIN, 0});
  try {
    zmq::poll(items, std::chrono::ceil<milliseconds>(timeout));
    return true;
  } catch (const zmq::error_t&) {
    return false;
  }
}

int Mailbox::fd() const { return impl_->router ? int(impl_->router->get(zmq::sockopt::fd)) : -1; }
const std::string& Mailbox::listen_endpoint() const { return impl_->listen_endpoint; }

}  // namespace idlewave::mailbox
