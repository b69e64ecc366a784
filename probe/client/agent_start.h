#pragma once

#include "probe/client/agent_request.h"
#include "probe/client/deadline.h"
#include "probe/client/settings.h"

namespace idlewave::client {

inline constexpr int kReasonLimit = 768;

/// Has the host of `run` start this node's agent, if there is one.
Request have_host_start_agent(const Settings& settings, const Deadline& deadline);

/// The same; where there is no host, starts `idlewave-agent --session S
/// --detach [--connect ENDPOINT] [--key FILE] [--allow-inject] [--clock READING]` and waits until it has put itself into
/// the background. False if no such program is found, it fails, or the time is up. The program is $IDLEWAVE_AGENT, or
/// idlewave-agent beside this library, in ../bin from there, beside the running program, or in PATH. Where this process may
/// not connect to the host, such an agent could not either, and none is started.
///
/// The program sees neither a child nor a SIGCHLD, runs no fork handler, and shares no open file with the agent: mpirun
/// and the host's sockets never wait for it.
/// Where it fails, `why` says so in one line.
bool start_agent(const Settings& settings, const Deadline& deadline, char (&why)[kReasonLimit]);

}  // namespace idlewave::client
