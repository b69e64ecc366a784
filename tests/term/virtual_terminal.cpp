#include "virtual_terminal.h"

#include <vterm.h>

namespace idlewave::term {
namespace {

int index_of(const VTermColor& colour) {
  if (VTERM_COLOR_IS_DEFAULT_FG(&colour) || VTERM_COLOR_IS_DEFAULT_BG(&colour)) return -1;
  return VTERM_COLOR_IS_INDEXED(&colour) ? colour.indexed.idx : -2;
}

}  // namespace

VirtualTerminal::VirtualTerminal(view::paint::Size size)
    : terminal_(::vterm_new(size.rows, size.columns)), screen_(::vterm_obtain_screen(terminal_)) {
  ::vterm_set_utf8(terminal_, 1);
  ::vterm_screen_enable_altscreen(screen_, 1);
  ::vterm_state_set_bold_highbright(::vterm_obtain_state(terminal_), 0);
  ::vterm_screen_reset(screen_, 1);
}

VirtualTerminal::~VirtualTerminal() { ::vterm_free(terminal_); }

void VirtualTerminal::feed(std::string_view bytes) { ::vterm_input_write(terminal_, bytes.data(), bytes.size()); }

SeenCell VirtualTerminal::at(int x, int y) const {
  VTermScreenCell cell{};
  ::vterm_screen_get_cell(screen_, VTermPos{.row = y, .col = x}, &cell);
  return {.glyph = cell.chars[0] == 0 ? U' ' : static_cast<char32_t>(cell.chars[0]),
          .fg = index_of(cell.fg),
          .bg = index_of(cell.bg),
          .bold = cell.attrs.bold != 0,
          .underline = cell.attrs.underline != 0,
          .reverse = cell.attrs.reverse != 0};
}

}  // namespace idlewave::term
