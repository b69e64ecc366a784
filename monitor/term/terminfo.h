#pragma once
// What the terminal database says about a terminal, as plain values.

#include <string>

#include "probe/wire/result.h"

namespace idlewave::term {

struct TerminalInfo {
  std::string name;
  int colours = 0;              ///< 0 without colours.
  bool direct_colours = false;  ///< Colour numbers above 7 are RGB values, not indices (xterm-direct).
  bool shifts_cells = false;    ///< Cells of a row move by short sequences, dch and ich.
  /// bce. Terminals without it (tmux, screen) may send every row that moves whole to the terminal around them.
  bool erases_in_colour = false;
  std::string enter;  ///< Alternate screen, cursor hidden, mouse reports on.
  std::string leave;  ///< All of that undone, attributes off.
};

/// `name` may be null: TERM unset. The error says what to do about a terminal that is unknown or can't place its
/// cursor.
wire::Result<TerminalInfo> read_terminfo(const char* name);

/// What puts the terminal named by TERM back to work for a shell, whatever state it was left in; empty where there is
/// nothing to say it in. For the guard, which outlives whoever entered.
std::string leave_sequence();

}  // namespace idlewave::term
