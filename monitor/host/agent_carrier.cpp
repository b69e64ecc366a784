#include "monitor/host/agent_carrier.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "monitor/host/agent_here.h"
#include "monitor/host/held_folder.h"
#include "monitor/host/session.h"
#include "monitor/host/unix_listener.h"
#include "monitor/link/tunnel.h"
#include "monitor/process/pipe.h"

namespace idlewave::host {
namespace {

constexpr int kTick = 1000, kTickAtTheEnd = 20;  // ms; nothing wakes us where an agent has gone

class AgentCarrier {
 public:
  AgentCarrier(const AgentCarrierOptions& options, HeldFolder folder, int listener)
      : options_(options),
        folder_(std::move(folder)),
        listener_(listener),
        tunnel_(options.in, options.out, listener, options.session) {}
  ~AgentCarrier() { close(listener_); }
  AgentCarrier(const AgentCarrier&) = delete;
  AgentCarrier& operator=(const AgentCarrier&) = delete;

  wire::Status carry() {
    while (tunnel_.cut().empty() && !tunnel_.has_said_all() && !rest()) {
      tunnel_.serve();
      if (tunnel_.is_told_to_finish()) finish();
    }
    return is_in_order() ? wire::ok() : wire::Status(wire::Error{"the way to the host: " + tunnel_.cut()});
  }

 private:
  bool is_in_order() const { return tunnel_.cut().empty() || tunnel_.has_ended(); }

  /// True if it is to end.
  bool rest() const {
    std::array<pollfd, 2> polled{{{tunnel_.fd(), POLLIN, 0}, {options_.stop, POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), tunnel_.is_told_to_finish() ? kTickAtTheEnd : kTick);
    return polled[1].revents != 0;
  }

  void finish() {
    const auto agent = agent_here(folder_.session());
    if (agent && !std::exchange(agent_knows_, true)) say_program_has_ended(*agent);
    if (!agent && !agent_still_talks(folder_.session()) && !tunnel_.has_channels())
      tunnel_.say_all(troubles_in(folder_.path() + "/trouble.log"));
  }

  const AgentCarrierOptions& options_;
  HeldFolder folder_;
  int listener_;
  link::AgentsEnd tunnel_;
  bool agent_knows_ = false;
};

}  // namespace

wire::Status carry_agents(const AgentCarrierOptions& options) {
  auto folder = HeldFolder::take(options.session);
  if (!folder) return folder.error();
  const std::string socket = folder->path() + "/monitor.sock";
  const int listener = listen_at(socket);
  if (listener < 0) return wire::Error{fmt::format("{}: {}", socket, std::strerror(errno))};
  for (const int fd : {options.in, options.out}) process::never_block(fd);
  return AgentCarrier(options, std::move(*folder), listener).carry();
}

}  // namespace idlewave::host
