#pragma once
// The agent of a session on this node, as who waits for its last words sees it.

#include <optional>
#include <string>

#include "probe/session/agent_record.h"

namespace idlewave::host {

std::optional<session::AgentRecord> agent_here(const std::string& session);

/// One that takes no more ranks has removed its record, and may still have all to say to a host that was stopped.
bool agent_still_talks(const std::string& session);

/// One that somebody has stopped could not say what it still has; and no other program will follow.
void say_program_has_ended(const session::AgentRecord& agent);

}  // namespace idlewave::host
