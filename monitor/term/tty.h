#pragma once
// The terminal device: its modes, its size, its input.

#include <termios.h>

#include <string>

#include "monitor/view/paint/canvas.h"
#include "probe/wire/result.h"

namespace idlewave::term {

/// Owns a file description of its own, so that being non-blocking does not spread to the shell that shares ours. One
/// thread.
class Tty {
 public:
  /// The terminal that standard output leads to.
  static wire::Result<Tty> open();
  Tty(Tty&& other) noexcept;
  Tty& operator=(Tty&&) = delete;
  ~Tty();

  int fd() const { return fd_; }
  /// 80x24 where the device does not know. One that claims to be larger is drawn on as far as that.
  static constexpr int kWidest = 4000, kHighest = 1000;
  view::paint::Size size() const;
  /// Keys come one by one and are not echoed; Ctrl-C, Ctrl-\ and Ctrl-Z stay signals. Remembers the modes found.
  /// A background job is stopped here by the kernel until it is in the foreground.
  void enter();
  /// The modes that enter() found, unless somebody else has changed them since: a shell that already took the terminal
  /// back.
  void leave();
  /// What has come; empty when nothing has. Does not block.
  std::string read();
  bool hung_up() const { return hung_up_; }  ///< There is nobody any more at the other end.

 private:
  explicit Tty(int fd) : fd_(fd) {}

  int fd_;
  bool entered_ = false;
  bool hung_up_ = false;
  termios found_{};
  termios ours_{};
};

}  // namespace idlewave::term
