#pragma once
// A terminal with an interactive shell in it, driven as a person would: tmux, on a server of its own that ends with the
// object.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace idlewave::tty {

/// False where tmux is not installed; then tests skip themselves.
bool tmux_is_installed();

/// Waits until `condition` holds; false after a time in which a working program is long done, so that a hang becomes a
/// failure.
bool eventually(const std::function<bool()>& condition, std::chrono::seconds guard = std::chrono::seconds(40));

bool process_lives(pid_t pid);  ///< A zombie does not.

class TmuxSession {
 public:
  /// `environment`: "NAME=value" or "-u NAME" for the shell, as env(1) takes them.
  explicit TmuxSession(int columns = 80, int rows = 24, const std::vector<std::string>& environment = {});
  TmuxSession(const TmuxSession&) = delete;
  TmuxSession& operator=(const TmuxSession&) = delete;
  ~TmuxSession();

  const std::string& folder() const { return folder_; }  ///< For files of the test; gone with the object.
  void type(const std::string& text) const;              ///< Literally, without Enter.
  void press(const std::string& key) const;              ///< A key by tmux' name: Enter, Up, C-c.
  void run(const std::string& command) const;            ///< Types a line and Enter.
  void resize(int columns, int rows) const;
  void close() const;                         ///< As a person closes the window; nothing else works afterwards.
  std::string screen() const;                 ///< As text, one line a row.
  std::string coloured_screen() const;        ///< With SGR sequences.
  bool shows(const std::string& text) const;  ///< Now or soon.
  std::string format(const std::string& variable) const;  ///< A tmux variable of the pane, such as "alternate_on".
  /// Runs the command in the shell of the terminal and returns its output; the shell has to be at its prompt.
  std::string output_of(const std::string& command);
  /// What must be the same before and after a program: modes of the device, screen, cursor, mouse.
  std::string state();

 private:
  void end_with_this_process() const;
  std::string tmux(const std::string& arguments) const;

  std::string folder_;
  std::string socket_;
  int commands_ = 0;
};

}  // namespace idlewave::tty
