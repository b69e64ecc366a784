#pragma once
// What stands for a host on a node from which no port leads to it: the session's folder there, a socket in it to which the
// node's agent connects as to the host's own, and the way from there over standard streams (monitor/link/tunnel.h).

#include <string>

#include "probe/wire/result.h"

namespace idlewave::host {

struct AgentCarrierOptions {
  std::string session;
  int in = 0, out = 1;
  int stop = -1;  ///< Readable when it is to end.
};

/// Until the program has ended and the agent has said all, or the host is gone, or `stop`; ok then. Folder and socket go
/// with it. SIGPIPE has to be ignored.
wire::Status carry_agents(const AgentCarrierOptions& options);

}  // namespace idlewave::host
