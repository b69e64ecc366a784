#include "probe/outlet/mailbox/mailbox.h"

#include <sys/random.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <zmq.hpp>

#include "probe/outlet/mailbox/admission.h"
#include "probe/outlet/mailbox/endpoint.h"
#include "probe/outlet/mailbox/gate.h"
#include "probe/outlet/mailbox/handshakes.h"
#include "probe/outlet/mailbox/resources.h"
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
constexpr int kHandshakeMs = 5'000;      // A connection that has not said by then who it is ends.
constexpr const char* kOrigin = "__fd";  // ZMQ_SRCFD, as a text: the descriptor that a part came over.
constexpr int kEnforceZapDomain = 93;    // ZMQ_ZAP_ENFORCE_DOMAIN, which zmq.h names to drafts only.

zmq::socket_t make_socket(zmq::context_t& context, zmq::socket_type type, const std::string& endpoint,
                          const Options& options) {
  zmq::socket_t socket(context, type);
  socket.set(zmq::sockopt::linger, static_cast<int>(std::chrono::ceil<milliseconds>(options.linger).count()));
  socket.set(zmq::sockopt::sndhwm, options.queue_messages);
  socket.set(zmq::sockopt::rcvhwm, options.queue_messages);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(wire::kMaxFrameBytes));
  socket.set(zmq::sockopt::tcp_maxrt, kUnacknowledgedMs);
  socket.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  socket.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
  return socket;
}

/// On top of a folder that is its owner's alone: the system says whose process connects.
void admit_own_user_only(zmq::socket_t& socket) {
  const uid_t self = geteuid();
  if (zmq_setsockopt(socket.handle(), ZMQ_IPC_FILTER_UID, &self, sizeof self) != 0) throw zmq::error_t();
}

void admit_by_key(zmq::socket_t& socket, const ServerKey& key) {
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, key.secret_key);
  socket.set(zmq::sockopt::zap_domain, "idlewave");
  // Where libzmq knows it: nobody gets in while nobody answers. Admission answers before the socket is bound anyway.
  const int enforce = 1;
  zmq_setsockopt(socket.handle(), kEnforceZapDomain, &enforce, sizeof enforce);
}

void present_key(zmq::socket_t& socket, const ClientKey& key) {
  socket.set(zmq::sockopt::curve_serverkey, key.server_key);
  socket.set(zmq::sockopt::curve_publickey, key.public_key);
  socket.set(zmq::sockopt::curve_secretkey, key.secret_key);
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

/// What Admission has said about the connection that this part came over; null if nothing.
const char* admitted_as(zmq::message_t& part) { return zmq_msg_gets(part.handle(), "User-Id"); }

/// libzmq names its peers by numbers that go up from one drawn by rand(), and ends the process where a peer has taken the
/// next one for its own: nobody shall foresee it.
void draw_names_of_peers() {
  unsigned seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) throw zmq::error_t();
  std::srand(seed);
}

bool receive_from(zmq::socket_t& socket, bool names_peer, Gate* gate, Message& message) {
  zmq::message_t part;
  const auto receive_next = [&] {
    if (!receive_part(socket, part)) return false;
    const char* origin = gate != nullptr ? zmq_msg_gets(part.handle(), kOrigin) : nullptr;
    if (origin != nullptr) gate->note_read(std::atoi(origin), part.size());
    return true;
  };
  if (!receive_next()) return false;
  message.peer.clear();
  message.role = Role::kOwner;
  message.bytes.clear();
  if (names_peer) {
    message.peer = part.to_string();
    if (!part.more() || !receive_next()) return true;
    if (const char* name = admitted_as(part)) message.role = role_named(name);
  }
  if (!part.more()) {
    const auto* bytes = part.data<const std::byte>();
    message.bytes.assign(bytes, bytes + part.size());
  }
  while (part.more() && receive_next()) {
  }
  return true;
}

/// The keys that the two ends need; none over ipc.
struct Keys {
  std::optional<ServerKey> listen;
  std::optional<ClientKey> connect;
};

wire::Status read_listen_key(const Options& options, Keys& keys) {
  if (!is_tcp(options.listen)) return wire::ok();
  if (options.listen_key.empty())
    return wire::Error{options.listen +
                       ": over tcp nothing listens without keys; name the session's key.server with --key"};
  auto key = read_server_key(options.listen_key);
  if (!key) return key.error();
  keys.listen = std::move(*key);
  return wire::ok();
}

wire::Status read_connect_key(const Options& options, Keys& keys) {
  if (!is_tcp(options.connect)) return wire::ok();
  if (options.connect_key.empty())
    return wire::Error{options.connect +
                       ": over tcp a key is needed; name the session's key file with --key (key.operator or key.viewer "
                       "to watch, key.agent to report)"};
  auto key = read_client_key(options.connect_key);
  if (!key) return key.error();
  keys.connect = std::move(*key);
  return wire::ok();
}

wire::Status check_endpoints(const Options& options) {
  for (const std::string& endpoint : {options.listen, options.connect}) {
    if (endpoint.empty()) continue;
    if (auto valid = check_endpoint(endpoint); !valid) return valid;
  }
  return options.connect.empty() ? wire::ok() : check_listener(options.connect);
}

}  // namespace

struct Mailbox::Impl {
  std::unique_ptr<Gate> gate;  // Goes last: it lets out what is still to be sent.
  zmq::context_t context{1};
  std::optional<Admission> admission;
  std::optional<zmq::socket_t> router;
  std::optional<zmq::socket_t> dealer;
  std::optional<Stream> stream;  // In the place of the dealer.
  std::optional<Handshakes> handshakes;
  std::string listen_endpoint;

  wire::Status listen(const Options& options, const Keys& keys) {
    if (auto free = clear_stale_socket(options.listen); !free) return free;
    draw_names_of_peers();
    router = make_socket(context, zmq::socket_type::router, options.listen, options);
    // Without it a ROUTER drops what it can't deliver, silently.
    router->set(zmq::sockopt::router_mandatory, true);
    admit_own_user_only(*router);
    if (keys.listen) return listen_behind_gate(options, *keys.listen);
    router->bind(options.listen);
    listen_endpoint = router->get(zmq::sockopt::last_endpoint);
    return wire::ok();
  }

  wire::Status listen_behind_gate(const Options& options, const ServerKey& key) {
    admission.emplace(context, key);
    admit_by_key(*router, key);
    const std::string inner = secret_name();
    router->bind("ipc://@" + inner);
    auto opened = Gate::open({.endpoint = options.listen, .inner = inner, .most_held = options.most_held});
    if (!opened) return opened.error();
    gate = std::move(*opened);
    listen_endpoint = gate->endpoint();
    return wire::ok();
  }

  void connect(const Options& options, const Keys& keys) {
    dealer = make_socket(context, zmq::socket_type::dealer, options.connect, options);
    // Nothing is queued for a peer that is not there: it would get requests that were made long ago.
    dealer->set(zmq::sockopt::immediate, true);
    dealer->set(zmq::sockopt::reconnect_ivl, kReconnectMs);
    dealer->set(zmq::sockopt::reconnect_ivl_max, kReconnectMaxMs);
    if (keys.connect) {
      present_key(*dealer, *keys.connect);
      handshakes.emplace(context, *dealer, options.connect);
    }
    dealer->connect(options.connect);
  }
};

wire::Result<std::unique_ptr<Mailbox>> Mailbox::open(const Options& options) {
  Keys keys;
  if (auto valid = check_endpoints(options); !valid) return valid.error();
  if (auto read = read_listen_key(options, keys); !read) return read.error();
  if (auto read = read_connect_key(options, keys); !read) return read.error();
  if (auto enough = check_resources(); !enough) return enough.error();
  const std::string* endpoint = &options.listen;
  try {
    auto impl = std::make_unique<Impl>();
    if (!options.listen.empty())
      if (auto listens = impl->listen(options, keys); !listens) return listens.error();
    endpoint = &options.connect;
    if (!options.connect.empty()) impl->connect(options, keys);
    impl->stream = options.over;
    return std::unique_ptr<Mailbox>(new Mailbox(std::move(impl)));
  } catch (const zmq::error_t& error) {
    return endpoint_error(*endpoint, error.num());
  } catch (const std::system_error& error) {
    return endpoint_error(*endpoint, error.code().value());
  }
}

Mailbox::Mailbox(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Mailbox::~Mailbox() = default;

Sent Mailbox::send(const Peer& peer, std::span<const std::byte> bytes) {
  if (peer.empty() && impl_->stream) return impl_->stream->send(bytes);
  zmq::socket_t& socket = peer.empty() ? *impl_->dealer : *impl_->router;
  try {
    if (!peer.empty() && !send_part(socket, peer.data(), peer.size(), zmq::send_flags::sndmore)) return Sent::kFull;
    return send_part(socket, bytes.data(), bytes.size(), zmq::send_flags::none) ? Sent::kYes : Sent::kFull;
  } catch (const zmq::error_t&) {
    return Sent::kGone;  // EHOSTUNREACH: no connection has that name.
  }
}

bool Mailbox::receive(Message& message) {
  if (impl_->handshakes) impl_->handshakes->look();
  while (impl_->router && receive_from(*impl_->router, true, impl_->gate.get(), message))
    if (!impl_->admission || message.role != Role::kOwner) return true;  // Where keys are asked for, one was shown.
  if (impl_->dealer) return receive_from(*impl_->dealer, false, nullptr, message);
  message.peer.clear();
  message.role = Role::kOwner;
  return impl_->stream && impl_->stream->receive(message.bytes);
}

bool Mailbox::wait(wire::Nanoseconds timeout, int extra_fd) {
  std::vector<zmq::pollitem_t> items;
  if (impl_->router) items.push_back({impl_->router->handle(), 0, ZMQ_POLLIN, 0});
  if (impl_->dealer) items.push_back({impl_->dealer->handle(), 0, ZMQ_POLLIN, 0});
  if (impl_->handshakes) items.push_back({impl_->handshakes->handle(), 0, ZMQ_POLLIN, 0});
  if (impl_->stream && impl_->stream->cut().empty()) items.push_back({nullptr, impl_->stream->in(), ZMQ_POLLIN, 0});
  if (impl_->stream && !impl_->stream->flush()) items.push_back({nullptr, impl_->stream->out(), ZMQ_POLLOUT, 0});
  if (extra_fd >= 0) items.push_back({nullptr, extra_fd, ZMQ_POLLIN, 0});
  try {
    zmq::poll(items, std::chrono::ceil<milliseconds>(timeout));
    return true;
  } catch (const zmq::error_t&) {
    return false;
  }
}

const std::string& Mailbox::refusal() const {
  static const std::string none;
  return impl_->handshakes ? impl_->handshakes->failure() : none;
}
const std::string& Mailbox::cut() const {
  static const std::string none;
  return impl_->stream ? impl_->stream->cut() : none;
}
int Mailbox::fd() const { return impl_->router ? int(impl_->router->get(zmq::sockopt::fd)) : -1; }
const std::string& Mailbox::listen_endpoint() const { return impl_->listen_endpoint; }

}  // namespace idlewave::mailbox
