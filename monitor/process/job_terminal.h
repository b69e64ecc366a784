#pragma once
// The terminal as a shell's job sees it: who is in the foreground, and in which modes it was found.

#include <sys/types.h>
#include <termios.h>

#include <optional>
#include <string_view>

namespace idlewave::process {

/// The terminal of standard output, else the controlling one; modes can be restored on both, a foreground exists on the
/// latter alone. What can't be done is not done, in silence. SIGTTOU must be blocked by the caller. One thread.
class JobTerminal {
 public:
  JobTerminal();
  JobTerminal(const JobTerminal&) = delete;
  JobTerminal& operator=(const JobTerminal&) = delete;
  ~JobTerminal();

  bool in_foreground(pid_t group) const;
  bool is_somebody_elses() const;  ///< Another job is in the foreground.
  void give_to(pid_t group) const;
  void remember_modes();
  /// True if they were other than remembered: whoever had the terminal did not put it back.
  bool restore_modes() const;
  void write(std::string_view bytes) const;  ///< As much as the terminal takes; never waits for it.

 private:
  int fd_;
  std::optional<termios> modes_;
};

}  // namespace idlewave::process
