#pragma once
// Which glyph reaches the terminal. Names of programs and sessions come from strangers: nothing that a terminal would
// obey gets through.

#include <string>

namespace idlewave::term {

/// `glyph` if it takes one column and can't be mistaken for a command, else '?'. Without `unicode` the ASCII character
/// that looks most like it.
char32_t printable(char32_t glyph, bool unicode);

void append_utf8(std::string& out, char32_t glyph);

}  // namespace idlewave::term
