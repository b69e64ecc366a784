#include "probe/agent/reach.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "probe/session/trouble_log.h"

namespace idlewave::agent {

namespace {

constexpr int kPatience = 2000;  // ms
constexpr const char* kAnswers =
    "something answers there, but has not taken this agent in: it is no monitor of this session, its key is another, "
    "or it is stopped or has no processor";

std::string lower(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = char(text[0] - 'A' + 'a');
  return text;
}

/// 0, or an error number.
int wait_for_connection(int fd) {
  pollfd answer{fd, POLLOUT, 0};
  if (poll(&answer, 1, kPatience) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

std::string connect_to(int family, const sockaddr* address, socklen_t size) {
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return lower(std::strerror(errno));
  int error = connect(fd, address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = wait_for_connection(fd);
  close(fd);
  if (error == ETIMEDOUT) return "no answer for " + std::to_string(kPatience / 1000) + " s";
  return error == 0 ? kAnswers : lower(std::strerror(error));
}

std::string try_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return "the path is too long for a socket";
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return connect_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

std::string try_host(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return "no port in it";
  std::string host = place.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), place.substr(colon + 1).c_str(), &wanted, &found);
  if (error != 0) return lower(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  return connect_to(found->ai_family, found->ai_addr, found->ai_addrlen);
}

}  // namespace

std::string try_to_reach(const std::string& endpoint) {
  if (endpoint.rfind("ipc://", 0) == 0) return try_path(endpoint.substr(6));
  if (endpoint.rfind("tcp://", 0) == 0) return try_host(endpoint.substr(6));
  return "neither tcp:// nor ipc://";
}

void explain_silence(const std::string& session, const std::string& endpoint) {
  const auto explain = [=] {
    const std::string line = "the agent has found no monitor at " + endpoint + " for 5 s: " + try_to_reach(endpoint);
    session::note_trouble(session.c_str(), line.c_str());
  };
  try {
    std::thread(explain).detach();
  } catch (const std::system_error& error) {  // no thread left: then the line is all there is to say
    const std::string line =
        "the agent has found no monitor at " + endpoint + " for 5 s, and can't find out why: " + error.what();
    session::note_trouble(session.c_str(), line.c_str());
  }
}

}  // namespace idlewave::agent
