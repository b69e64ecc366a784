#pragma once
// A program that runs as it would without us.

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::process {

struct ProgramOptions {
  std::vector<std::string> environment;  ///< "NAME=value", on top of ours.
  /// Its standard streams; -1: ours.
  int input_fd = -1, output_fd = -1, error_fd = -1;
  /// In our own group, so that it may ask on our terminal, and with a SIGTERM when we end.
  bool is_part_of_us = false;
  bool ends_with_us = false;  ///< With a SIGTERM when we end, in a group of its own all the same.
};

/// A child in a group of its own. It finds signals, files and limits as whoever started us left them, and nothing here
/// ends it: it outlives its owner, unless it was to end with us. One thread, the one that started it.
class Program {
 public:
  struct NotStarted {
    wire::Error error;
    int shell_code = 127;  ///< What a shell would exit with: 127 if there is no such program, else 126.
  };
  /// Looks for argv[0] as a shell would.
  static std::variant<Program, NotStarted> start(const std::vector<std::string>& argv, const ProgramOptions& options);

  pid_t pid() const { return pid_; }  ///< Also the number of its group, where it has one.
  /// As waitpid() tells it; nothing while it runs.
  std::optional<int> wait_status();
  /// Exit code, 128 + signal if one has ended it, nothing while it runs.
  std::optional<int> exit_code();

 private:
  explicit Program(pid_t pid) : pid_(pid) {}

  pid_t pid_;
  std::optional<int> wait_status_;
};

}  // namespace idlewave::process
