#pragma once

#include "probe/client/deadline.h"

namespace idlewave::client {

/// Asks the host of `run`, where there is one on this node, to start the session's agent: then it is no descendant of this
/// process, nor bound by its limits (monitor/host/agent_starter.h has the protocol). True when the agent is there. False
/// after half a second at most where nobody listens, or has not done it. `clock`: "counter:ns" for the agent, or empty.
bool request_agent(const char* session, const char* clock, const Deadline& deadline);

}  // namespace idlewave::client
