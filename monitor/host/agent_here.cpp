#include "monitor/host/agent_here.h"

#include <csignal>

#include "probe/session/directory.h"
#include "probe/session/files.h"

namespace idlewave::host {

std::optional<session::AgentRecord> agent_here(const std::string& session) {
  session::AgentRecord agent;
  const bool lives = session::read_agent_record(session.c_str(), agent) && session::is_alive(agent);
  return lives ? std::optional(agent) : std::nullopt;
}

bool agent_still_talks(const std::string& session) {
  char socket[session::kSessionFileLimit];
  return session::session_file(session.c_str(), "agent.sock", socket) && session::somebody_listens(socket);
}

void say_program_has_ended(const session::AgentRecord& agent) {
  for (const int signal : {SIGCONT, SIGURG}) kill(agent.pid, signal);
}

}  // namespace idlewave::host
