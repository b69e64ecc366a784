#pragma once
// What the kernel tells a terminal program by signals, brought to its loop.

#include <array>
#include <csignal>

namespace idlewave::term {

/// Catches SIGWINCH, SIGTSTP and SIGCONT while it lives; at most one at a time in a process, main thread. A SIGTSTP
/// that was ignored stays so.
class TtySignals {
 public:
  struct Seen {
    bool resized = false;
    bool stop_asked = false;
    bool continued = false;
  };

  TtySignals();
  TtySignals(const TtySignals&) = delete;
  TtySignals& operator=(const TtySignals&) = delete;
  ~TtySignals();

  int fd() const;  ///< Readable when take() has something.
  Seen take();     ///< Since the last call.
  /// Stops the process as SIGTSTP would have; returns once it is continued (at once where nobody could continue it).
  void stop_here();

 private:
  std::array<struct sigaction, 3> before_{};
};

}  // namespace idlewave::term
