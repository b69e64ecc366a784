#include "monitor/host/reach.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>

namespace idlewave::host {
namespace {

bool is_loopback(const in_addr& address) { return (ntohl(address.s_addr) >> 24) == 127; }

std::string to_text(const in_addr& address) {
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

std::vector<in_addr> addresses_of_interfaces() {
  std::vector<in_addr> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET || (each->ifa_flags & IFF_UP) == 0) continue;
    const in_addr address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    if (!is_loopback(address)) found.push_back(address);
  }
  freeifaddrs(all);
  return found;
}

/// Of several interfaces the one by whose name the machine goes is the one that others are told of.
bool goes_by(const in_addr& address) {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  addrinfo wanted{}, *all = nullptr;
  wanted.ai_family = AF_INET;
  if (getaddrinfo(name, nullptr, &wanted, &all) != 0) return false;
  bool found = false;
  for (const addrinfo* each = all; each != nullptr; each = each->ai_next)
    found = found || reinterpret_cast<const sockaddr_in*>(each->ai_addr)->sin_addr.s_addr == address.s_addr;
  freeaddrinfo(all);
  return found;
}

/// From which this machine would speak to another; nothing is sent. Nothing where the way does not leave the machine.
std::optional<in_addr> address_towards(const std::string& host) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(host.c_str(), "9", &wanted, &found) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const bool known = connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&from), &size) == 0;
  if (fd >= 0) close(fd);
  return known && !is_loopback(from.sin_addr) ? std::optional(from.sin_addr) : std::nullopt;
}

/// Of "SlurmctldHost=head(10.0.0.1)" the address, else the name.
std::string controller_of_slurm() {
  const char* chosen = std::getenv("SLURM_CONF");
  for (const char* path : {chosen, "/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"}) {
    std::ifstream file(path != nullptr ? path : "");
    for (std::string line; std::getline(file, line);) {
      constexpr std::string_view kKey = "SlurmctldHost=";
      if (!line.starts_with(kKey)) continue;
      const std::size_t open = line.find('(');
      const std::size_t from = open == std::string::npos ? kKey.size() : open + 1;
      return line.substr(from, line.find_first_of(") \t#", from) - from);
    }
  }
  return "";
}

std::string own_address(std::vector<std::string> peers) {
  if (const std::string controller = controller_of_slurm(); !controller.empty()) peers.push_back(controller);
  for (const std::string& peer : peers)
    if (const auto address = address_towards(peer)) return to_text(*address);
  const std::vector<in_addr> addresses = addresses_of_interfaces();
  if (addresses.empty()) return "127.0.0.1";
  for (const in_addr& address : addresses)
    if (goes_by(address)) return to_text(address);
  return to_text(addresses.front());
}

}  // namespace

std::string reachable_endpoint(const std::string& bound, std::vector<std::string> peers) {
  for (const std::string any : {"tcp://0.0.0.0:", "tcp://*:", "tcp://[::]:"})
    if (bound.starts_with(any)) return "tcp://" + own_address(std::move(peers)) + ":" + bound.substr(any.size());
  return bound;
}

}  // namespace idlewave::host
