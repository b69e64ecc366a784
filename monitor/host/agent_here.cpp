#include "monitor/host/agent_here.h"

#include <csignal>

#include "probe/wire/session_directory.h"
#include "probe/wire/session_files.h"

namespace idlewave::host {

std::optional<wire::AgentRecord> agent_here(const std::string& session) {
  wire::AgentRecord agent;
  const bool lives = wire::read_agent_record(session.c_str(), agent) && wire::is_alive(agent);
  return lives ? std::optional(agent) : std::nullopt;
}

bool agent_still_talks(const std::string& session) {
  char socket[wire::kSessionFileLimit];
  return wire::session_file(session.c_str(), "agent.sock", socket) && wire::somebody_listens(socket);
}

void say_program_has_ended(const wire::AgentRecord& agent) {
  for (const int signal : {SIGCONT, SIGURG}) kill(agent.pid, signal);
}

}  // namespace idlewave::host
