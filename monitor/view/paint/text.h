#pragma once
// Text that comes from programs, hosts and people, made safe for a grid of cells. A name may hold anything; a cell
// holds one visible column.

#include <string>
#include <string_view>
#include <vector>

#include "probe/wire/utf8.h"

namespace idlewave::view::paint {

using wire::append_utf8;

inline constexpr char32_t kUnprintable = U'?';

/// The glyph itself if every terminal draws it in exactly one column, else kUnprintable. No control character passes.
char32_t one_column(char32_t glyph);

/// Removes the first code point and returns it; a byte that begins none becomes kUnprintable. `utf8` must not be empty.
char32_t take_code_point(std::string_view& utf8);

/// Columns that Canvas::text takes for it.
int columns_of(std::string_view utf8);

/// At most `columns` columns: the text, or its beginning and "…".
std::string shortened(std::string_view utf8, int columns);
/// The same, but keeps the last word if it can: "virtual… 1" and "virtual… 2" are two sockets.
std::string shortened_inside(std::string_view utf8, int columns);

/// With spaces at which wrapped() does not break.
std::string unbroken(std::string_view utf8);

/// Broken at spaces into lines of at most `columns` columns, figures not ("5.0 ± 0.1", "51 %"); a longer word is broken where it must.
std::vector<std::string> wrapped(std::string_view utf8, int columns);

/// What stands for a glyph where only ASCII can be shown.
char32_t ascii_of(char32_t glyph);

}  // namespace idlewave::view::paint
