#include "monitor/host/reach.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "probe/wire/session_directory.h"

namespace idlewave::host {
namespace fs = std::filesystem;
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

std::string own_address() {
  const std::vector<in_addr> addresses = addresses_of_interfaces();
  if (addresses.empty()) return "127.0.0.1";
  for (const in_addr& address : addresses)
    if (goes_by(address)) return to_text(address);
  return to_text(addresses.front());
}

fs::path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && cache[0] == '/') return fs::path(cache) / "idlewave";
  return home != nullptr && home[0] == '/' ? fs::path(home) / ".cache/idlewave" : fs::path();
}

/// One for each machine: only on its own can be seen whether a session is gone.
fs::path keys_root() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / name;
}

bool is_gone(const std::string& session) {
  char folder[wire::kSessionPathLimit];
  std::error_code failed;
  return wire::session_path(session.c_str(), folder) && !fs::exists(folder, failed) && !failed;
}

void sweep_keys(const fs::path& root) {
  std::error_code failed;
  std::vector<std::string> gone;
  for (fs::directory_iterator entry(root, failed), end; !failed && entry != end; entry.increment(failed))
    if (const std::string name = entry->path().filename(); is_gone(name)) gone.push_back(name);
  for (const std::string& session : gone) remove_key_folder(session);
}

}  // namespace

std::string reachable_endpoint(const std::string& bound) {
  for (const std::string any : {"tcp://0.0.0.0:", "tcp://*:", "tcp://[::]:"})
    if (bound.starts_with(any)) return "tcp://" + own_address() + ":" + bound.substr(any.size());
  return bound;
}

wire::Result<std::string> make_key_folder(const std::string& session) {
  const fs::path root = keys_root();
  if (root.empty())
    return wire::Error{
        "neither HOME nor XDG_CACHE_HOME names a folder for the keys of a session over tcp: set one that all nodes "
        "see"};
  sweep_keys(root);
  const fs::path folder = root / session;
  std::error_code failed;
  fs::create_directories(root, failed);
  if (!failed) chmod(root.c_str(), 0700);
  if (!failed && mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) failed.assign(errno, std::generic_category());
  if (failed)
    return wire::Error{fmt::format("{}: can't be made for the session's keys: {}", folder.string(), failed.message())};
  return folder.string();
}

void remove_key_folder(const std::string& session) {
  std::error_code ignored;
  const fs::path root = keys_root();
  if (!root.empty() && wire::valid_session_name(session.c_str())) fs::remove_all(root / session, ignored);
}

}  // namespace idlewave::host
