#pragma once

#include "probe/client/deadline.h"

namespace idlewave::client {

enum class Request {
  kDone,       ///< The agent is there.
  kNot,        ///< Nobody listens, or has done it.
  kForbidden,  ///< This process may connect to nobody, or send nothing (errno), as by a filter of system calls, which its children inherit.
};

/// Asks the host of `run`, where there is one on this node, to start the session's agent: then it is no descendant of this
/// process, nor bound by its limits (monitor/host/agent_starter.h has the protocol). Takes half a second at most.
/// `clock`: "counter:ns" for the agent, or empty.
Request request_agent(const char* session, const char* clock, const Deadline& deadline);

}  // namespace idlewave::client
