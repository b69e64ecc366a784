#pragma once
// A real MPI job of a test's own: started, watched, and ended whatever happens.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace idlewave::tests {

struct JobResult {
  int exit_code = -1;  ///< -1: did not end by itself and was killed by the guard.
  std::string out;
  std::string err;
};

/// `mpirun -n ranks iw-ring arguments...`
class Job {
 public:
  Job(int ranks, const std::vector<std::string>& arguments);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  /// Waits for the end, at most as long as a hang takes to be called one.
  JobResult wait();

  /// Processes of the ranks, once there are as many as that; fewer if they don't come.
  std::vector<pid_t> ranks(std::size_t expected) const;

  pid_t launcher() const { return launcher_; }

 private:
  void kill_all() const;

  pid_t launcher_;
  int out_;
  int err_;
};

JobResult run_ring(int ranks, const std::vector<std::string>& arguments);

/// False once the process is gone or a zombie.
bool is_running(pid_t process);

/// Polls until none of them runs; false if that takes too long.
bool all_gone(const std::vector<pid_t>& processes);

}  // namespace idlewave::tests
