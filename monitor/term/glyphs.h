#pragma once
// Which glyph reaches the terminal. Names of programs and sessions come from strangers: nothing that a terminal would
// obey gets through.

#include "probe/wire/utf8.h"

namespace idlewave::term {

using wire::append_utf8;

/// `glyph` if it takes one column and can't be mistaken for a command, else '?'. Without `unicode` the ASCII character
/// that looks most like it.
char32_t printable(char32_t glyph, bool unicode);

}  // namespace idlewave::term
