#pragma once
// What the terminal database says about a terminal, as plain values.

#include <string>

#include "probe/wire/result.h"

namespace idlewave::term {

struct TerminalInfo {
  std::string name;             ///< As the database has it, which may be another than TERM says.
  std::string note;             ///< One line about that; empty where it is the same.
  int colours = 0;              ///< 0 without colours.
  bool direct_colours = false;  ///< Colour numbers above 7 are RGB values, not indices (xterm-direct).
  bool shifts_cells = false;    ///< Cells of a row move by short sequences, dch and ich.
  /// bce. Terminals without it (tmux, screen) may send every row that moves whole to the terminal around them.
  bool erases_in_colour = false;
  std::string set_margins;  ///< csr, for tiparm: rows between which lines scroll. Empty: it has none.
  std::string enter;        ///< Alternate screen, cursor hidden, mouse reports on.
  std::string leave;        ///< All of that undone, attributes off.
};

/// `name` may be null: TERM unset. For a name that the database does not have, its nearest relative there is taken:
/// xterm-kitty is an xterm, foot can do what they all can. The error says why no picture can be drawn: it is the name
/// of a terminal that can't place its cursor, or there is none.
wire::Result<TerminalInfo> read_terminfo(const char* name);

/// The user wants none: NO_COLOR is set and not empty (no-color.org).
bool forbids_colours();

/// What puts the terminal named by TERM back to work for a shell, whatever state it was left in; empty where there is
/// nothing to say it in. For the guard, which outlives whoever entered.
std::string leave_sequence();

}  // namespace idlewave::term
