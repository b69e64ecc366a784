#include "probe/outlet/mailbox/sockets.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "probe/outlet/mailbox/endpoint.h"

namespace idlewave::mailbox {
namespace {

using session::Descriptor;

constexpr int kBacklog = 4096;  // Nodes that come in one moment; the kernel has a limit of its own.

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

std::optional<Address> copied(const sockaddr* from) {
  if (from == nullptr || (from->sa_family != AF_INET && from->sa_family != AF_INET6)) return std::nullopt;
  Address address;
  address.size = from->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::memcpy(&address.storage, from, address.size);
  return address;
}

std::optional<Address> address_of_interface(const std::string& name, int family) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return std::nullopt;
  std::optional<Address> found;
  for (const ifaddrs* one = all; one != nullptr && !found; one = one->ifa_next)
    if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == family && name == one->ifa_name)
      found = copied(one->ifa_addr);
  ::freeifaddrs(all);
  return found;
}

std::optional<Address> numeric_address(const std::string& host, int family) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
  if (::getaddrinfo(host == "*" ? nullptr : host.c_str(), "0", &hints, &found) != 0) return std::nullopt;
  const auto address = copied(found->ai_addr);
  ::freeaddrinfo(found);
  return address;
}

/// As ZeroMQ reads it: an address or an interface; names of machines are for those who connect.
std::optional<Address> address_of(const std::string& endpoint) {
  const std::size_t begin = std::string_view("tcp://").size(), colon = endpoint.rfind(':');
  std::string host = endpoint.substr(begin, colon - begin);
  const bool is_v6 = host.size() > 1 && host.front() == '[' && host.back() == ']';
  if (is_v6) host = host.substr(1, host.size() - 2);
  const int family = is_v6 ? AF_INET6 : AF_INET;
  auto address = address_of_interface(host, family);
  if (!address) address = numeric_address(host, family);
  if (!address) return std::nullopt;
  const std::string port = endpoint.substr(colon + 1);
  const auto number = htons(std::uint16_t(port == "*" ? 0 : std::stoi(port)));
  if (is_v6)
    reinterpret_cast<sockaddr_in6*>(&address->storage)->sin6_port = number;
  else
    reinterpret_cast<sockaddr_in*>(&address->storage)->sin_port = number;
  return address;
}

/// An abstract name, which begins with NUL.
std::pair<sockaddr_un, socklen_t> abstract(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  return {address, socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

}  // namespace

std::string endpoint_of(int listener) {
  Address address;
  address.size = sizeof address.storage;
  ::getsockname(listener, address.get(), &address.size);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  ::getnameinfo(address.get(), address.size, host.data(), host.size(), port.data(), port.size(),
                NI_NUMERICHOST | NI_NUMERICSERV);
  const bool is_v6 = address.storage.ss_family == AF_INET6;
  return std::string("tcp://") + (is_v6 ? "[" : "") + host.data() + (is_v6 ? "]:" : ":") + port.data();
}

wire::Result<Descriptor> listen_at(const std::string& endpoint) {
  const auto address = address_of(endpoint);
  if (!address) return endpoint_error(endpoint, ENODEV);
  Descriptor listener(::socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  const bool listens =
      listener.get() >= 0 && ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      ::bind(listener.get(), address->get(), address->size) == 0 && ::listen(listener.get(), kBacklog) == 0;
  if (!listens) return endpoint_error(endpoint, errno);
  return listener;
}

std::string name_in(const sockaddr_un& address, socklen_t size) {
  constexpr auto kHead = socklen_t(offsetof(sockaddr_un, sun_path));
  return size > kHead ? std::string(address.sun_path, size - kHead) : std::string();
}

Descriptor connect_to(const std::string& inner) {
  Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = 0, .tv_usec = 100'000};  // Its queue may be full for moments.
  const sockaddr_un any{.sun_family = AF_UNIX, .sun_path = {}};
  const auto [address, size] = abstract(inner);
  const bool connected = fd.get() >= 0 &&
                         ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
                         ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any.sun_family) == 0 &&
                         ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
  return connected ? std::move(fd) : Descriptor();
}

std::string own_name(int fd) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? name_in(address, size) : std::string();
}

}  // namespace idlewave::mailbox
