#pragma once
// The terminal as the monitor's loop sees it. Two implementations: ncurses (the only user of it in the project), and
// text for terminals that can't place a cursor.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "monitor/view/key.h"
#include "monitor/view/look.h"
#include "monitor/view/paint/canvas.h"
#include "probe/wire/result.h"

namespace idlewave::term {

/// One thread. The terminal is put back as it was by the destructor, and by the guard (guard.h) when the process does
/// not live to run it.
class Terminal {
 public:
  virtual ~Terminal() = default;
  virtual view::paint::Size size() const = 0;
  virtual view::Look look() const = 0;
  virtual int input_fd() const = 0;  ///< Readable when keys() has something.
  virtual std::vector<view::Key>
  keys() = 0;                        ///< What was pressed since the last call; does not block. Includes kResize.
  virtual bool hung_up() const = 0;  ///< Input has ended: nobody is there any more.
  /// Brings the picture to the screen: one buffer, one write. Skipped (false) when the terminal is still busy with the
  /// one before.
  virtual bool show(const view::paint::Canvas& canvas) = 0;
  virtual std::uint64_t bytes_written() const = 0;
  virtual std::string note() const = 0;  ///< One line where it is not what TERM says, and why; else empty.
};

/// Opens the terminal that standard output leads to: through ncurses, or as text where that can't drive it. The error
/// says what to do where there is none.
wire::Result<std::unique_ptr<Terminal>> open_terminal();

}  // namespace idlewave::term
