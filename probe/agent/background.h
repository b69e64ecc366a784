#pragma once

#include <string>

namespace idlewave::agent {

/// The way into the background: a process without terminal, parent, working folder or open files of whoever started it.
class Background {
 public:
  /// In the caller: waits until the new process reports, and ends with its exit code and message. Returns in the new
  /// process only.
  static Background enter();
  /// A process that stays where it is.
  static Background stay() { return Background(-1); }

  /// Tells the starter how the start went (`message` goes to its stderr, with a newline), and lets it go.
  void report(int exit_code, const std::string& message);
  /// A child of this process will report.
  void leave_to_child();

 private:
  explicit Background(int starter) : starter_(starter) {}
  int starter_;  ///< Pipe to the starter; -1: none.
};

/// Lets this process run on any processor, or on `processor` alone (-1: any). A rank that is bound to its core starts
/// its agent, which must not stay there. False if the system refuses.
bool set_processor(int processor);

}  // namespace idlewave::agent
