#pragma once
// A small parent for the monitor. It survives what the monitor does not survive, puts the terminal back, and ends what
// the monitor started.

#include <sys/types.h>

#include <functional>
#include <string>

namespace idlewave::process {

struct GuardOptions {
  std::string program = "idlewave";  ///< Name for the line that says how it ended.
  /// Bytes that put the terminal back; written if the body left it in other modes than it found.
  std::string terminal_reset;
  /// Told, in the guard, about every other child that has ended, with its wait status.
  std::function<void(pid_t, int)> on_other_child{};
  /// Asked, in the guard, about every signal that somebody sent here; true: it is not for the child.
  std::function<bool(int)> takes_signal{};
};

/// Runs `body` in a child process and returns its exit code, 128 + signal if a signal has ended it; then one line on
/// stderr says so. The child's process ends in here, with what `body` returned. Call it before there are threads.
///
/// This process becomes the guard ("iw-guard" in ps and top, so that killing the program by name hits the monitor):
/// - Signals that somebody sends it are passed to the child, which decides; the guard ends after it.
/// - The child is a process group of its own, in the foreground if we were. When it stops (Ctrl-Z), our whole group
///   stops, so that the shell, even behind a script, sees its job stopped only after the terminal is in order;
///   continued, the child goes on.
/// - When the child is gone, modes and screen of the terminal are restored, every remembered group (groups.h) is ended,
///   and so are orphans of the child that are still in our session. Daemons, which have left it, live on.
/// - If the guard itself is killed, the child gets SIGTERM.
int run_guarded(const GuardOptions& options, const std::function<int()>& body);

}  // namespace idlewave::process
