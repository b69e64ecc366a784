#include "probe/wire/printable.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "probe/wire/utf8.h"

namespace idlewave::wire {
namespace {

struct Range {
  char32_t first, last;
};

/// Sorted. Unicode's general categories Cc, Cf, Zl and Zp where they act on what stands around them, and letters that
/// are drawn as nothing (Default_Ignorable_Code_Point). Not here: U+FE00 to U+FE0F, which choose between glyphs of what is
/// before them, as emoji have it.
constexpr Range kNotShown[] = {
    {0x00, 0x1f},        // C0
    {0x7f, 0x9f},        // DEL, C1
    {0xad, 0xad},        // soft hyphen
    {0x34f, 0x34f},      // combining grapheme joiner
    {0x61c, 0x61c},      // Arabic letter mark
    {0x115f, 0x1160},    // Hangul fillers
    {0x17b4, 0x17b5},    // Khmer inherent vowels
    {0x180b, 0x180f},    // Mongolian variation selectors and vowel separator
    {0x200b, 0x200f},    // zero-width space, joiners, direction marks
    {0x2028, 0x202e},    // line and paragraph separator, embeddings and overrides
    {0x2060, 0x206f},    // word joiner, invisible operators, isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xfeff, 0xfeff},    // byte order mark
    {0xffa0, 0xffa0},    // halfwidth Hangul filler
    {0xfff9, 0xfffb},    // interlinear annotation
    {0x13430, 0x1343f},  // Egyptian hieroglyph format controls
    {0x1bca0, 0x1bca3},  // shorthand format controls
    {0x1d173, 0x1d17a},  // musical formatting
    {0xe0000, 0xe0fff},  // tags, variation selectors of ideographs, and what is kept for their like
};

bool is_shown(char32_t c) {
  const auto range = std::ranges::lower_bound(kNotShown, c, {}, &Range::last);
  return range == std::end(kNotShown) || c < range->first;
}

void append_hex(std::string& out, char32_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 0xf];
}

void append_escaped(std::string& out, char32_t c) {
  const int digits = c < 0x80 ? 2 : c < 0x10000 ? 4 : 8;
  out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  append_hex(out, c, digits);
}

std::string escaped(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const std::optional<char32_t> c = take_code_point(text);
    const std::string_view bytes = before.substr(0, before.size() - text.size());
    if (c && (is_shown(*c) || (lines && *c == U'\n'))) {
      out += bytes;
    } else if (c) {
      append_escaped(out, *c);
    } else {
      for (const char byte : bytes) out += "\\x", append_hex(out, static_cast<unsigned char>(byte), 2);
    }
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, false); }

std::string printable_lines(std::string_view text) { return escaped(text, true); }

}  // namespace idlewave::wire
