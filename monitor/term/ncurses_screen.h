#pragma once
// Turns one picture into the bytes that make a terminal show it, given what it shows already: ncurses does that, into
// memory.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "monitor/term/palette.h"
#include "monitor/term/screen.h"
#include "monitor/term/screen_memory.h"
#include "monitor/term/terminfo.h"
#include "monitor/view/look.h"
#include "monitor/view/paint/canvas.h"

struct screen;  // ncurses' SCREEN

namespace idlewave::term {

/// At most one at a time in a process (ncurses keeps its state in globals), one thread.
class NcursesScreen final : public Screen {
 public:
  NcursesScreen(const TerminalInfo& terminal, const view::Look& look, view::paint::Size size);
  NcursesScreen(const NcursesScreen&) = delete;
  NcursesScreen& operator=(const NcursesScreen&) = delete;
  ~NcursesScreen() override;

  bool usable() const { return screen_ != nullptr; }
  /// Clipped at its size.
  std::string draw(const view::paint::Canvas& canvas) override;
  /// The next draw() begins with an empty screen.
  void start_over(view::paint::Size size) override;

 private:
  std::string shift_rows(const view::paint::Canvas& canvas);
  void put_row(const view::paint::Canvas& canvas, int y);
  int pair_of(int fg, int bg);
  int colour_number(int index) const;

  TerminalInfo terminal_;
  view::Look look_;
  ScreenMemory memory_;
  std::FILE* no_input_;
  screen* screen_ = nullptr;
  std::optional<view::paint::Canvas> shown_;
  std::string margins_;  ///< To be sent before anything else.
  std::map<std::pair<int, int>, int> pairs_;
};

}  // namespace idlewave::term
