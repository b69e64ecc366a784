#pragma once
// The signals that ask a program to end, brought to its loop.

#include <array>
#include <csignal>
#include <optional>

namespace idlewave::signals {

/// Catches SIGINT, SIGTERM, SIGHUP and SIGQUIT while it lives; at most one at a time in a process, main thread.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  int fd() const;  ///< Readable from the first signal on, for ever.
  void forget();   ///< As if none had come.
  /// The first that came. A program that ends by it exits with exit_code_of() it.
  std::optional<int> received() const;

 private:
  std::array<struct sigaction, 4> before_{};
};

/// What shells report for a program that a signal has ended: 128 + signal.
constexpr int exit_code_of(int signal) { return 128 + signal; }

}  // namespace idlewave::signals
