#pragma once
// What every text goes through on its way to a terminal, stdout and stderr alike. Names, paths, messages and files come
// from programs, hosts and strangers: one escape sequence in them would move the cursor, name the window or answer in
// the user's name, and one bidirectional override would show another path than the one that is meant.

#include <string>
#include <string_view>

namespace idlewave::wire {

/// The text as one line: what a terminal obeys instead of showing it (C0, DEL, C1), what reorders or hides text
/// (bidirectional and invisible characters, line separators) and what is no UTF-8 is written out as `\x1b` (a byte) or
/// `\u202e` (a code point). Everything else stays, so that a text which has been through here already comes out as it
/// was.
std::string printable(std::string_view text);

/// The same for a text of several lines, whose ends are to stay.
std::string printable_lines(std::string_view text);

}  // namespace idlewave::wire
