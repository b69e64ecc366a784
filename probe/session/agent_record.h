#pragma once
// The file `agent` of a session's folder (directory.h): which process looks after the session on this node.

#include <sys/types.h>

#include <cstdint>

namespace idlewave::session {

struct AgentRecord {
  pid_t pid = 0;
  std::uint64_t start = 0;  ///< process_start_time(pid), so that a reused pid is not taken for the agent.
  int memory_fd = -1;
  char endpoint[128] = {};
};

bool write_agent_record(const char* session, const AgentRecord& record);  ///< Atomically, by rename.
bool read_agent_record(const char* session, AgentRecord& record);         ///< False if there is none or it is damaged.
/// Unless another agent's has taken its place. Hold the lock.
void remove_agent_record(const char* session, const AgentRecord& record);
bool is_alive(const AgentRecord& record);

/// Field 22 of /proc/<pid>/stat; 0 if there is no such process, or only a zombie is left of it. Of one whose first thread has
/// ended while others go on, too.
std::uint64_t process_start_time(pid_t pid);

/// Whether process numbers can be looked up here: /proc may not be there, or be one of other numbers than ours.
bool sees_processes();

/// Calls visit(session, record) for each session with a living agent.
void for_each_live_session(void (*visit)(const char* session, const AgentRecord& record, void* context), void* context);

}  // namespace idlewave::session
