#include "monitor/view/paint/text.h"

#include <algorithm>
#include <array>

namespace idlewave::view::paint {

namespace {

struct Range {
  char32_t first, last;
};
// Blocks without control, combining, bidirectional or double-width characters. What is outside them may be drawn in two
// columns or in none.
constexpr std::array<Range, 13> kSafe = {{{0x20, 0x7e},
                                          {0xa1, 0xac},
                                          {0xae, 0x2ff},
                                          {0x370, 0x377},
                                          {0x37a, 0x37f},
                                          {0x384, 0x38a},
                                          {0x38e, 0x3a1},
                                          {0x3a3, 0x482},
                                          {0x48a, 0x52f},
                                          {0x2010, 0x2027},
                                          {0x2030, 0x205e},
                                          {0x2190, 0x22ff},
                                          {0x2500, 0x25fc}}};

constexpr char32_t kNoBreakSpace = 0xa0;

/// A space: "5.0 ± 0.1" and "51 %" are read as one.
bool is_within_figure(std::string_view before, std::string_view after) {
  return before.ends_with("±") || after.starts_with("±") || after.starts_with("%");
}

}  // namespace

char32_t one_column(char32_t glyph) {
  const auto holds = [glyph](const Range& r) { return glyph >= r.first && glyph <= r.last; };
  return std::any_of(kSafe.begin(), kSafe.end(), holds) ? glyph : kUnprintable;
}

char32_t take_code_point(std::string_view& utf8) { return wire::take_code_point(utf8).value_or(kUnprintable); }

int columns_of(std::string_view utf8) {
  int columns = 0;
  for (; !utf8.empty(); ++columns) take_code_point(utf8);
  return columns;
}

std::string shortened(std::string_view utf8, int columns) {
  if (columns <= 0) return {};
  if (columns_of(utf8) <= columns) return std::string(utf8);
  std::string out;
  for (int i = 0; i + 1 < columns; ++i) append_utf8(out, take_code_point(utf8));
  return out + "…";
}

std::string shortened_inside(std::string_view utf8, int columns) {
  const std::size_t space = utf8.rfind(' ');
  if (columns_of(utf8) <= columns || space == std::string_view::npos) return shortened(utf8, columns);
  const std::string_view last = utf8.substr(space);
  const int room = columns - columns_of(last);
  return room < 2 ? shortened(utf8, columns) : shortened(utf8.substr(0, space), room) + std::string(last);
}

std::string unbroken(std::string_view utf8) {
  std::string out;
  while (!utf8.empty()) {
    const char32_t c = take_code_point(utf8);
    append_utf8(out, c == U' ' ? kNoBreakSpace : c);
  }
  return out;
}

std::vector<std::string> wrapped(std::string_view utf8, int columns) {
  std::vector<std::string> lines;
  if (columns <= 0) return lines;
  std::string line, word;
  int line_columns = 0, word_columns = 0;
  const auto end_line = [&] {
    lines.push_back(std::move(line));
    line.clear();
    line_columns = 0;
  };
  const auto end_word = [&] {
    if (word.empty()) return;
    if (line_columns > 0 && line_columns + 1 + word_columns > columns) end_line();
    if (line_columns > 0) line += ' ', ++line_columns;
    line += word;
    line_columns += word_columns;
    word.clear();
    word_columns = 0;
  };
  while (!utf8.empty()) {
    const char32_t c = take_code_point(utf8);
    const bool in_figure = c == U' ' && !word.empty() && is_within_figure(word, utf8);
    if ((c == U' ' && !in_figure) || c == U'\n') {
      end_word();
      continue;
    }
    if (word_columns == columns) end_word();
    append_utf8(word, c == kNoBreakSpace ? U' ' : c);
    ++word_columns;
  }
  end_word();
  if (line_columns > 0) end_line();
  return lines;
}

char32_t ascii_of(char32_t glyph) {
  if (glyph < 0x80) return glyph;
  switch (glyph) {
    case U'─': return U'-';
    case U'│':
    case U'┊':
    case U'┼':
    case U'┤':
    case U'├': return U'|';
    case U'▕': return U'[';
    case U'▏': return U']';
    case U'█':
    case U'▆':
    case U'▓': return U'#';
    case U'·': return U'.';
    case U'…': return U'~';
    case U'●': return U'*';
    case U'◆': return U'@';
    case U'×': return U'x';
    case U'╵': return U'\'';
    case U'▴':
    case U'↑': return U'^';
    case U'↓':
    case U'▾': return U'v';
    case U'←':
    case U'◂': return U'<';
    case U'→':
    case U'▸': return U'>';
    case U'–': return U'-';
    case U'µ': return U'u';
    case U'≈': return U'~';
    case U'╲': return U'\\';
    case U'╱': return U'/';
    default: return kUnprintable;
  }
}

}  // namespace idlewave::view::paint
