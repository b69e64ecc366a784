#pragma once
// What somebody finds in the folder of a session.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "probe/session/agent_record.h"
#include "probe/session/directory.h"

namespace idlewave::session {

namespace fs = std::filesystem;

inline AgentRecord record_of(pid_t pid) {
  AgentRecord record;
  record.pid = pid;
  record.start = process_start_time(pid);
  record.memory_fd = 7;
  strcpy(record.endpoint, "ipc:///tmp/x/agent.sock");
  return record;
}

inline AgentRecord record_of_the_dead() {
  AgentRecord record = record_of(getpid());
  record.start += 1;  // This pid, but another process.
  return record;
}

inline void make_session(const char* name, const AgentRecord& record) {
  ASSERT_TRUE(make_session_directory(name));
  ASSERT_TRUE(write_agent_record(name, record));
}

inline void write_text(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

/// As Slurm says it to the processes that it starts.
class NodeOfSlurm {
 public:
  explicit NodeOfSlurm(const char* name) { setenv("SLURMD_NODENAME", name, 1); }
  ~NodeOfSlurm() {
    unsetenv("SLURMD_NODENAME");
    unsetenv("MPI_LOCALRANKID");
  }
  NodeOfSlurm(const NodeOfSlurm&) = delete;
  NodeOfSlurm& operator=(const NodeOfSlurm&) = delete;
};

}  // namespace idlewave::session
