#pragma once
// Pictures become bytes: what a terminal has to be sent to show one.

#include <string>

#include "monitor/view/paint/canvas.h"

namespace idlewave::term {

/// One thread.
class Screen {
 public:
  virtual ~Screen() = default;
  /// The terminal shows `canvas` once it has taken these bytes; all of them must reach it, in order. Empty: it need not
  /// be told.
  virtual std::string draw(const view::paint::Canvas& canvas) = 0;
  /// The size has changed, or the terminal may show anything.
  virtual void start_over(view::paint::Size size) = 0;
  /// Somebody has pressed a key and waits for what comes of it.
  virtual void hurry() {}
};

}  // namespace idlewave::term
