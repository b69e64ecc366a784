#pragma once
// Starts programs that end with us.

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::process {

struct LaunchOptions {
  std::vector<std::string> environment;  ///< "NAME=value", on top of ours; a name that is there already is replaced.
  std::string directory;                 ///< To start in; empty: ours.
  int output_fd = -1;   ///< Where its standard output and error go, for example a log file; -1: where ours go.
  int results_fd = -1;  ///< Where its standard output goes instead.
};

/// A program in a process group of its own, without a terminal to read from. Ends with its owner: by the destructor;
/// if the owner dies first, the kernel asks it to end by one SIGTERM, and the guard ends what does not listen. One
/// thread, the one that launched it.
class Launched {
 public:
  Launched(Launched&& other) noexcept;
  Launched& operator=(Launched&& other) noexcept;
  ~Launched();

  pid_t pid() const { return pid_; }  ///< Of its keeper, see launch(); also the number of its group.
  /// Exit code, 128 + signal if one has ended it, nothing while it runs. Other processes of its group may still live.
  std::optional<int> exit_code();
  /// SIGTERM to its group, SIGKILL after `patience` to what still lives. Returns when all of it is gone.
  void end(std::chrono::milliseconds patience = std::chrono::seconds(3));

 private:
  friend wire::Result<Launched> launch(const std::vector<std::string>& argv, const LaunchOptions& options);
  explicit Launched(pid_t pid) : pid_(pid), gone_(false) {}
  void be_gone();

  pid_t pid_ = 0;
  std::optional<int> exit_code_;
  bool gone_ = true;  ///< The number of an empty group may belong to a stranger tomorrow.
};

/// Looks for argv[0] as a shell would. The error names the program, why it can't be started, and the package to install
/// if we know one. Between the program and us stands a process "iw-keeper", which leads its group.
wire::Result<Launched> launch(const std::vector<std::string>& argv, const LaunchOptions& options = {});

}  // namespace idlewave::process
