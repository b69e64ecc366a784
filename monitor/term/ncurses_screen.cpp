#include "monitor/term/ncurses_screen.h"

#include <ncurses.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>
#include <vector>

#include "monitor/term/glyphs.h"
#include "monitor/term/row_shift.h"

namespace idlewave::term {
namespace {

using view::ColourDepth;
using view::paint::Canvas;

/// newterm catches signals whose default it finds; what to do with them is the monitor's business.
class KeepingSignals {
 public:
  KeepingSignals() {
    for (std::size_t i = 0; i < kTaken.size(); ++i) ::sigaction(kTaken[i], nullptr, &before_[i]);
  }
  KeepingSignals(const KeepingSignals&) = delete;
  KeepingSignals& operator=(const KeepingSignals&) = delete;
  ~KeepingSignals() {
    for (std::size_t i = 0; i < kTaken.size(); ++i) ::sigaction(kTaken[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array kTaken{SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
  std::array<struct sigaction, kTaken.size()> before_{};
};

attr_t attributes_of(const Paint& paint) {
  attr_t attributes = A_NORMAL;
  if (paint.bold) attributes |= A_BOLD;
  if (paint.dim) attributes |= A_DIM;
  if (paint.underline) attributes |= A_UNDERLINE;
  if (paint.reverse) attributes |= A_REVERSE;
  return attributes;
}

cchar_t blank_cell() {
  cchar_t cell{};
  ::setcchar(&cell, L" ", A_NORMAL, 0, nullptr);
  return cell;
}

bool same_row(const Canvas& a, const Canvas& b, int y) {
  for (int x = 0; x < a.size().columns; ++x)
    if (!(a.at(x, y) == b.at(x, y))) return false;
  return true;
}

}  // namespace

NcursesScreen::NcursesScreen(const TerminalInfo& terminal, const view::Look& look, view::paint::Size size)
    : terminal_(terminal), look_(look), no_input_(std::fopen("/dev/null", "re")) {
  if (memory_.file() == nullptr || no_input_ == nullptr) return;
  const KeepingSignals keeping;
  screen_ = ::newterm(terminal.name.c_str(), memory_.file(), no_input_);
  if (screen_ == nullptr) return;
  if (look_.colours != ColourDepth::kNone) {
    ::start_color();
    ::use_default_colors();
  }
  ::typeahead(-1);  // never cut a frame short because a key has come
  ::leaveok(stdscr, TRUE);
  ::idlok(stdscr, TRUE);
  // newterm sets margins for as many rows as the terminal database thinks of. After endwin() the first doupdate() begins
  // anew, for the size that is known by then.
  ::endwin();
  start_over(size);
}

NcursesScreen::~NcursesScreen() {
  if (screen_ != nullptr) {
    ::endwin();
    ::delscreen(screen_);
  }
  if (no_input_ != nullptr) std::fclose(no_input_);
}

void NcursesScreen::start_over(view::paint::Size size) {
  ::resizeterm(size.rows, size.columns);
  ::werase(stdscr);
  ::clearok(curscr, TRUE);
  shown_.reset();
  memory_.take();
  if (!terminal_.set_margins.empty()) margins_ = ::tiparm(terminal_.set_margins.c_str(), 0, size.rows - 1);
}

std::string NcursesScreen::draw(const Canvas& canvas) {
  const bool comparable = shown_ && shown_->size() == canvas.size();
  if (!comparable) ::werase(stdscr);
  const std::string shifts = comparable && terminal_.shifts_cells ? shift_rows(canvas) : "";
  for (int y = 0; y < std::min(canvas.size().rows, getmaxy(stdscr)); ++y)
    if (!comparable || !same_row(*shown_, canvas, y)) put_row(canvas, y);
  shown_ = canvas;
  ::wnoutrefresh(stdscr);
  ::doupdate();
  return std::exchange(margins_, "") + shifts + memory_.take();
}

/// Behind the back of ncurses, which is then told what the terminal shows by way of curscr.
std::string NcursesScreen::shift_rows(const Canvas& canvas) {
  if (canvas.size().columns > getmaxx(stdscr) || canvas.size().rows > getmaxy(stdscr)) return "";
  const cchar_t blank = blank_cell();
  const std::vector<RowShift> shifts = find_shifts(*shown_, canvas);
  for (const RowShift& shift : shifts) {
    std::vector<cchar_t> cells(static_cast<std::size_t>(shift.right - shift.left) + 1);
    mvwin_wchnstr(curscr, shift.y, shift.left + shift.by, cells.data(), shift.right - shift.left - shift.by);
    mvwadd_wchnstr(curscr, shift.y, shift.left, cells.data(), shift.right - shift.left - shift.by);
    for (int x = shift.right - shift.by; x < shift.right; ++x) mvwadd_wchnstr(curscr, shift.y, x, &blank, 1);
  }
  return shift_sequence(shifts);
}

void NcursesScreen::put_row(const Canvas& canvas, int y) {
  const int columns = std::min(canvas.size().columns, getmaxx(stdscr));
  std::vector<cchar_t> cells(static_cast<std::size_t>(columns));
  for (int x = 0; x < columns; ++x) {
    const view::paint::Cell& cell = canvas.at(x, y);
    const Paint paint = paint_of(cell, look_.colours);
    const wchar_t glyph[] = {static_cast<wchar_t>(printable(cell.glyph, look_.unicode)), L'\0'};
    int pair = pair_of(paint.fg, paint.bg);
    ::setcchar(&cells[static_cast<std::size_t>(x)], glyph, attributes_of(paint), 0, &pair);
  }
  mvwadd_wchnstr(stdscr, y, 0, cells.data(), columns);
}

/// A terminal with few pairs (64 where there are 8 colours) may run out of them; then the foreground alone is kept, or
/// nothing.
int NcursesScreen::pair_of(int fg, int bg) {
  if (fg == kTerminalsOwn && bg == kTerminalsOwn) return 0;
  const auto known = pairs_.find({fg, bg});
  if (known != pairs_.end()) return known->second;
  const int next = static_cast<int>(pairs_.size()) + 1;
  if (next >= COLOR_PAIRS || ::init_extended_pair(next, colour_number(fg), colour_number(bg)) == ERR)
    return bg == kTerminalsOwn ? 0 : pair_of(fg, kTerminalsOwn);
  return pairs_[{fg, bg}] = next;
}

int NcursesScreen::colour_number(int index) const {
  if (index < 8 || !terminal_.direct_colours) return index;
  const Rgb rgb = rgb_of(index);
  return rgb.red << 16 | rgb.green << 8 | rgb.blue;
}

}  // namespace idlewave::term
