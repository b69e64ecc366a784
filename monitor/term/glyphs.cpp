#include "monitor/term/glyphs.h"

#include <string_view>

namespace idlewave::term {
namespace {

bool within(char32_t glyph, char32_t first, char32_t last) { return glyph >= first && glyph <= last; }

bool is_control(char32_t glyph) {
  return glyph < 0x20 || within(glyph, 0x7F, 0x9F) || within(glyph, 0xD800, 0xDFFF) || glyph > 0x10FFFF;
}

/// Marks without a width of their own, and those that turn the direction of the text around them.
bool is_invisible(char32_t glyph) {
  return glyph == 0xAD || within(glyph, 0x0300, 0x036F) || within(glyph, 0x200B, 0x200F) ||
         within(glyph, 0x2028, 0x202E) || within(glyph, 0x2060, 0x206F) || within(glyph, 0xFE00, 0xFE0F) ||
         glyph == 0xFEFF || within(glyph, 0xE0000, 0xE0FFF);
}

/// East Asian wide and emoji: two columns would push the rest of the row aside.
bool is_wide(char32_t glyph) {
  return within(glyph, 0x1100, 0x115F) || within(glyph, 0x2E80, 0xA4CF) || within(glyph, 0xAC00, 0xD7A3) ||
         within(glyph, 0xF900, 0xFAFF) || within(glyph, 0xFE30, 0xFE6F) || within(glyph, 0xFF00, 0xFF60) ||
         within(glyph, 0x1F000, 0x1FAFF) || within(glyph, 0x20000, 0x3FFFD);
}

struct Likeness {
  char32_t glyph;
  char ascii;
};
constexpr Likeness kAlike[] = {
    {U'▀', '"'}, {U'▄', '_'},  {U'█', '#'}, {U'▉', '#'},      {U'▊', '#'},  {U'▋', '='},  {U'▌', '='}, {U'▍', '-'},
    {U'▎', '|'}, {U'▏', '|'},  {U'▕', '|'}, {U'░', '.'},      {U'▒', ':'},  {U'▓', '*'},  {U'▁', '_'}, {U'▂', '_'},
    {U'▃', '-'}, {U'▅', '='},  {U'▆', '='}, {U'▇', '#'},      {U'←', '<'},  {U'→', '>'},  {U'↑', '^'}, {U'↓', 'v'},
    {U'▲', '^'}, {U'▼', 'v'},  {U'▶', '>'}, {U'▸', '>'},      {U'◀', '<'},  {U'◂', '<'},  {U'●', '*'}, {U'○', 'o'},
    {U'◆', '*'}, {U'■', '#'},  {U'·', '.'}, {U'•', '*'},      {U'…', '.'},  {U'–', '-'},  {U'—', '-'}, {U'−', '-'},
    {U'×', 'x'}, {U'÷', '/'},  {U'±', '+'}, {U'µ', 'u'},      {U'μ', 'u'},  {U'°', 'o'},  {U'≥', '>'}, {U'≤', '<'},
    {U'≈', '~'}, {U'╲', '\\'}, {U'╱', '/'}, {U'\u00A0', ' '}, {U'‘', '\''}, {U'’', '\''}, {U'“', '"'}, {U'”', '"'},
};
constexpr std::u32string_view kHorizontals = U"─━┄┅┈┉╌╍═╴╶╸╺╼╾";
constexpr std::u32string_view kVerticals = U"│┃┆┇┊┋╎╏║╵╷╹╻╽╿";

char32_t ascii_of(char32_t glyph) {
  if (glyph < 0x80) return glyph;
  for (const Likeness& like : kAlike)
    if (like.glyph == glyph) return static_cast<char32_t>(like.ascii);
  if (kHorizontals.find(glyph) != kHorizontals.npos) return U'-';
  if (kVerticals.find(glyph) != kVerticals.npos) return U'|';
  return within(glyph, 0x2500, 0x257F) ? U'+' : U'?';
}

}  // namespace

char32_t printable(char32_t glyph, bool unicode) {
  if (is_control(glyph) || is_invisible(glyph) || is_wide(glyph)) return U'?';
  return unicode ? glyph : ascii_of(glyph);
}

}  // namespace idlewave::term
