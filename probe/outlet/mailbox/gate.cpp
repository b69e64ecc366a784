#include "probe/outlet/mailbox/gate.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "probe/outlet/mailbox/endpoint.h"
#include "probe/outlet/mailbox/quiet_thread.h"
#include "probe/outlet/mailbox/sockets.h"
#include "probe/session/descriptor.h"

namespace idlewave::mailbox {
namespace {

using GateClock = std::chrono::steady_clock;
using session::Descriptor;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMostStrangers = 128;    // At a time: each is admitted, or not, within milliseconds.
constexpr std::size_t kHandshakeBytes = 4096;  // From either side: greeting, HELLO, INITIATE; WELCOME, READY.
constexpr milliseconds kHandshakeTime = seconds(5);
/// For one who has to wait, until something of his is read: what can't be read in that time is half of something that
/// never ends.
constexpr milliseconds kStuckTime = seconds(30);
constexpr milliseconds kFarewell = milliseconds(500);
constexpr milliseconds kLook = milliseconds(250);
constexpr std::size_t kOnItsWay = 32 << 10;  // Bytes of one connection and direction.
constexpr int kEventsAtOnce = 64;
constexpr int kAcceptedAtOnce = 64;        // Then those who are there are served.
constexpr int kPassedAtOnce = 16;          // Times kOnItsWay, of one connection; then the others are served.
constexpr int kUnacknowledgedMs = 10'000;  // Of TCP data, after which the connection is closed.
constexpr char kSignature = '\xff';        // What every greeting begins with.

// What ZeroMQ's own side says, which can be believed: a greeting, then frames (RFC 23, 26).
constexpr std::size_t kGreetingBytes = 64;
constexpr unsigned char kLongFrame = 2, kCommandFrame = 4;
constexpr std::string_view kReady = "\5READY";

/// Around what a part holds, at most (RFC 26): its frame, MESSAGE, nonce, authentication, flags.
constexpr std::size_t kAroundAPart = 64;

/// A sixth of the descriptors that there may be: three each, of two gates, are half.
std::size_t most_connections() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return std::max<std::size_t>(8, std::size_t(limit.rlim_cur) / 6);
}

/// What passes in one direction.
struct Way {
  std::array<char, kOnItsWay> bytes;
  std::size_t begin = 0, end = 0;
  bool source_ended = false, is_shut = false;

  bool is_empty() const { return begin == end; }
  bool is_over() const { return source_ended && is_empty(); }
};

struct Connection {
  Descriptor outer, inner;
  std::string name;               ///< Of our end of the inner one.
  std::unique_ptr<Way> up, down;  ///< To ZeroMQ, and from it.
  std::string welcome;            ///< What ZeroMQ has said until it admits.
  bool is_admitted = false;
  std::size_t passed = 0;               ///< Upwards, until it is admitted.
  std::atomic<std::size_t> held{0};     ///< Bytes that have passed upwards since, and were not read.
  std::atomic<bool> is_stopped{false};  ///< Nothing is taken from it until something has been read.
  GateClock::duration stuck{};          ///< While it is stopped.
  GateClock::time_point began, spoke;
  std::list<std::uint64_t>::iterator among_strangers;
};

/// Whether what ZeroMQ has said holds READY. Nothing: what has to come first is not there yet.
bool says_ready(std::string_view said) {
  for (std::size_t at = kGreetingBytes; at + 2 <= said.size();) {
    const auto flags = static_cast<unsigned char>(said[at]);
    if ((flags & kLongFrame) != 0) return false;  // Nothing of a handshake is as long as that.
    const std::size_t size = static_cast<unsigned char>(said[at + 1]);
    if ((flags & kCommandFrame) != 0 && said.substr(at + 2).starts_with(kReady)) return true;
    at += 2 + size;
  }
  return false;
}

/// False: it has not gone, and may later.
bool send_some(int to, Way& way) {
  while (!way.is_empty()) {
    const ssize_t sent = ::send(to, way.bytes.data() + way.begin, way.end - way.begin, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return false;
    if (sent < 0) {
      way.source_ended = true;  // Nobody takes it.
      way.begin = way.end = 0;
      return true;
    }
    way.begin += std::size_t(sent);
  }
  way.begin = way.end = 0;
  return true;
}

/// Bytes that came; 0: none are there, or none will come any more.
std::size_t receive_some(int from, Way& way, std::size_t most) {
  const std::size_t room = std::min(way.bytes.size() - way.end, most);
  if (way.source_ended || room == 0) return 0;
  const ssize_t got = ::recv(from, way.bytes.data() + way.end, room, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  way.source_ended = got <= 0;
  way.end += std::size_t(std::max<ssize_t>(got, 0));
  return std::size_t(std::max<ssize_t>(got, 0));
}

}  // namespace

struct Gate::Impl {
  Impl(const GateOptions& asked, Descriptor at)
      : options(asked),
        listener(std::move(at)),
        endpoint(endpoint_of(listener.get())),
        epoll(::epoll_create1(EPOLL_CLOEXEC)),
        wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        most(most_connections()) {
    watch(listener.get(), kListener, EPOLLIN);
    watch(wake.get(), kWake, EPOLLIN);
  }

  // What an event is of: these, or a connection's number with the end in its last bit.
  static constexpr std::uint64_t kListener = 0, kWake = 1;
  enum End : std::uint64_t { kOuter = 0, kInner = 1 };
  using Connections = std::map<std::uint64_t, std::unique_ptr<Connection>>;

  void run();
  void handle(const epoll_event& event);
  void let_in();
  void make_room();
  bool connect_inside(Connection& connection);
  void serve(Connections::iterator at);
  bool pass_up(std::uint64_t number, Connection& connection);
  bool pass_down(std::uint64_t number, Connection& connection);
  std::size_t may_pass(const Connection& connection) const;
  void admit(Connection& connection);
  void attend(std::uint64_t number, const Connection& connection);
  Connections::iterator end(Connections::iterator at);
  void end_late_strangers();
  void end_stuck();
  void look_at_stopped();
  void watch(int fd, std::uint64_t key, std::uint32_t events) const;
  void ignore(int fd) const { ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, fd, nullptr); }
  void rouse() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t told = ::write(wake.get(), &one, sizeof one);
  }

  const GateOptions options;
  Descriptor listener;
  const std::string endpoint;
  Descriptor epoll, wake;
  const std::size_t most;
  std::uint64_t next = 1;
  Connections connections;
  std::list<std::uint64_t> strangers;  ///< Who came first stands first.
  std::set<std::uint64_t> stopped;
  GateClock::time_point looked_at = GateClock::now();
  std::atomic<bool> ending{false};
  std::mutex names_mutex;
  std::map<std::string, Connection*> names;  ///< Of those that are admitted.
  std::thread thread;
};

void Gate::Impl::watch(int fd, std::uint64_t key, std::uint32_t events) const {
  epoll_event event{.events = events, .data = {.u64 = key}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, fd, &event) != 0) ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event);
}

void Gate::Impl::run() {
  GateClock::time_point until = GateClock::time_point::max();
  while (!ending || (!connections.empty() && GateClock::now() < until)) {
    std::array<epoll_event, kEventsAtOnce> events;
    const bool looks = ending || !strangers.empty() || !stopped.empty();
    const int count = ::epoll_wait(epoll.get(), events.data(), kEventsAtOnce, looks ? int(kLook.count()) : -1);
    for (int i = 0; i < count; ++i) handle(events[std::size_t(i)]);
    end_late_strangers();
    end_stuck();
    if (!ending || until != GateClock::time_point::max()) continue;
    until = GateClock::now() + kFarewell;
    listener = Descriptor();
  }
}

void Gate::Impl::handle(const epoll_event& event) {
  const std::uint64_t key = event.data.u64;
  if (key == kListener) return let_in();
  if (key == kWake) return look_at_stopped();
  const auto at = connections.find(key / 2);
  if (at == connections.end()) return;
  // Of what he said no more is wanted, and what lies unread may be half of something.
  const bool is_gone = key % 2 == kOuter && (event.events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0;
  if (is_gone && at->second->is_stopped) return static_cast<void>(end(at));
  serve(at);
}

void Gate::Impl::let_in() {
  for (int count = 0; count < kAcceptedAtOnce; ++count) {
    Descriptor outer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (outer.get() < 0) {
      if ((errno == EMFILE || errno == ENFILE) && !strangers.empty()) end(connections.find(strangers.front()));
      return;
    }
    make_room();
    const int on = 1;
    ::setsockopt(outer.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(outer.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMs, sizeof kUnacknowledgedMs);
    const std::uint64_t number = next++;
    auto connection = std::make_unique<Connection>();
    connection->outer = std::move(outer);
    connection->began = connection->spoke = GateClock::now();
    connection->among_strangers = strangers.insert(strangers.end(), number);
    watch(connection->outer.get(), number * 2 + kOuter, EPOLLIN);
    connections.emplace(number, std::move(connection));
  }
}

void Gate::Impl::make_room() {
  if (strangers.size() >= kMostStrangers || (connections.size() >= most && !strangers.empty()))
    end(connections.find(strangers.front()));
  if (connections.size() < most) return;
  end(std::ranges::min_element(connections, {}, [](const auto& entry) { return entry.second->spoke; }));
}

/// Who has said nothing, or something else than a greeting, costs ZeroMQ nothing.
bool Gate::Impl::connect_inside(Connection& connection) {
  char first = 0;
  const ssize_t got = ::recv(connection.outer.get(), &first, 1, MSG_DONTWAIT | MSG_PEEK);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0 || first != kSignature) return false;
  connection.inner = connect_to(options.inner);
  if (connection.inner.get() < 0) return false;
  connection.name = own_name(connection.inner.get());
  connection.up = std::make_unique_for_overwrite<Way>();
  connection.down = std::make_unique_for_overwrite<Way>();
  return true;
}

void Gate::Impl::serve(Connections::iterator at) {
  const std::uint64_t number = at->first;
  Connection& connection = *at->second;
  if (connection.inner.get() < 0) {
    if (!connect_inside(connection)) return static_cast<void>(end(at));
    if (connection.inner.get() < 0) return;
    watch(connection.inner.get(), number * 2 + kInner, EPOLLIN);
  }
  if (!pass_up(number, connection) || !pass_down(number, connection)) return static_cast<void>(end(at));
  attend(number, connection);
}

/// What may be taken from it now.
std::size_t Gate::Impl::may_pass(const Connection& connection) const {
  if (!connection.is_admitted) return kHandshakeBytes - std::min(kHandshakeBytes, connection.passed);
  const std::size_t held = connection.held;
  return options.most_held - std::min(options.most_held, held);
}

/// False: it says more than a handshake takes.
bool Gate::Impl::pass_up(std::uint64_t number, Connection& connection) {
  Way& up = *connection.up;
  for (int i = 0; i < kPassedAtOnce; ++i) {
    const std::size_t got = receive_some(connection.outer.get(), up, may_pass(connection));
    if (got > 0) connection.spoke = GateClock::now();
    connection.is_admitted ? static_cast<void>(connection.held += got) : static_cast<void>(connection.passed += got);
    if (!send_some(connection.inner.get(), up) || got == 0) break;
  }
  connection.is_stopped = connection.is_admitted && may_pass(connection) == 0;
  connection.is_stopped ? void(stopped.insert(number)) : void(stopped.erase(number));
  if (!connection.is_stopped) connection.stuck = {};
  if (connection.is_stopped && may_pass(connection) > 0) rouse();  // It was read in this moment.
  if (up.is_over() && !std::exchange(up.is_shut, true)) ::shutdown(connection.inner.get(), SHUT_WR);
  return connection.is_admitted || connection.passed < kHandshakeBytes;
}

/// False: ZeroMQ has closed it, and all that it had said has gone out.
bool Gate::Impl::pass_down(std::uint64_t number, Connection& connection) {
  Way& down = *connection.down;
  for (int i = 0; i < kPassedAtOnce; ++i) {
    const std::size_t before = down.end;
    const std::size_t got = receive_some(connection.inner.get(), down, down.bytes.size());
    if (!connection.is_admitted && got > 0) {
      connection.welcome.append(down.bytes.data() + before, got);
      if (says_ready(connection.welcome)) admit(connection);
      if (connection.welcome.size() > kHandshakeBytes) return false;
    }
    if (!send_some(connection.outer.get(), down) || got == 0) break;
  }
  // One that does not take what is left has a stranger's time for it.
  if (down.source_ended && !down.is_empty() && connection.is_admitted &&
      connection.among_strangers == strangers.end()) {
    connection.began = GateClock::now();
    connection.among_strangers = strangers.insert(strangers.end(), number);
  }
  return !down.is_over();
}

void Gate::Impl::admit(Connection& connection) {
  connection.is_admitted = true;
  connection.welcome = std::string();
  strangers.erase(std::exchange(connection.among_strangers, strangers.end()));
  const std::lock_guard lock(names_mutex);
  names[connection.name] = &connection;
}

/// An end of which nothing is wanted is not watched, since that it is gone would be news for ever; but for one that has to
/// wait until something has been read, who may be gone before.
void Gate::Impl::attend(std::uint64_t number, const Connection& connection) {
  const Way &up = *connection.up, &down = *connection.down;
  const auto wanted = [](bool in, bool out) { return (in ? EPOLLIN : 0u) | (out ? std::uint32_t(EPOLLOUT) : 0u); };
  const bool takes = !up.source_ended && up.is_empty() && may_pass(connection) > 0;
  const std::uint32_t outer = wanted(takes, !down.is_empty()) | (connection.is_stopped ? EPOLLRDHUP : 0u);
  const std::uint32_t inner = wanted(!down.source_ended && down.is_empty(), !up.is_empty());
  outer != 0 ? watch(connection.outer.get(), number * 2 + kOuter, outer) : ignore(connection.outer.get());
  inner != 0 ? watch(connection.inner.get(), number * 2 + kInner, inner) : ignore(connection.inner.get());
}

Gate::Impl::Connections::iterator Gate::Impl::end(Connections::iterator at) {
  Connection& connection = *at->second;
  stopped.erase(at->first);
  if (connection.among_strangers != strangers.end()) strangers.erase(connection.among_strangers);
  {
    const std::lock_guard lock(names_mutex);
    if (const auto known = names.find(connection.name); known != names.end() && known->second == &connection)
      names.erase(known);
  }
  return connections.erase(at);
}

void Gate::Impl::end_late_strangers() {
  const GateClock::time_point now = GateClock::now();
  while (!strangers.empty()) {
    const auto first = connections.find(strangers.front());
    if (now - first->second->began < kHandshakeTime) return;
    end(first);
  }
}

/// While this process was stopped itself it could read nothing: that is nobody's fault.
void Gate::Impl::end_stuck() {
  const GateClock::time_point now = GateClock::now();
  const auto elapsed = std::min<GateClock::duration>(now - std::exchange(looked_at, now), kLook);
  for (const std::uint64_t number : std::set(stopped)) {
    const auto at = connections.find(number);
    at->second->stuck += elapsed;
    if (at->second->stuck > kStuckTime) end(at);
  }
}

void Gate::Impl::look_at_stopped() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake.get(), &count, sizeof count);
  for (const std::uint64_t number : std::set(stopped)) serve(connections.find(number));
}

wire::Result<std::unique_ptr<Gate>> Gate::open(const GateOptions& options) {
  auto listener = listen_at(options.endpoint);
  if (!listener) return listener.error();
  auto impl = std::make_unique<Impl>(options, std::move(*listener));
  if (impl->epoll.get() < 0 || impl->wake.get() < 0) return endpoint_error(options.endpoint, errno);
  try {
    impl->thread = thread_without_signals([gate = impl.get()] { gate->run(); });
  } catch (const std::system_error& error) {
    return endpoint_error(options.endpoint, error.code().value());
  }
  return std::unique_ptr<Gate>(new Gate(std::move(impl)));
}

Gate::Gate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Gate::~Gate() {
  impl_->ending = true;
  impl_->rouse();
  impl_->thread.join();
}

const std::string& Gate::endpoint() const { return impl_->endpoint; }

void Gate::note_read(int inner_fd, std::size_t bytes) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getpeername(inner_fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return;
  const std::lock_guard lock(impl_->names_mutex);
  const auto found = impl_->names.find(name_in(address, size));
  if (found == impl_->names.end()) return;
  Connection& connection = *found->second;
  std::size_t held = connection.held;
  while (!connection.held.compare_exchange_weak(held, held - std::min(held, bytes + kAroundAPart))) {
  }
  if (connection.is_stopped) impl_->rouse();
}

std::string secret_name() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != ssize_t(bytes.size()))
    throw std::system_error(errno, std::generic_category());
  std::string name = "idlewave-";
  for (const unsigned char byte : bytes) (name += kDigits[byte / 16]) += kDigits[byte % 16];
  return name;
}

}  // namespace idlewave::mailbox
