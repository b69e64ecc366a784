#include "monitor/term/glyphs.h"

#include <gtest/gtest.h>

#include "pictures.h"

namespace idlewave::term {
namespace {

std::string utf8(char32_t glyph) {
  std::string out;
  append_utf8(out, glyph);
  return out;
}

TEST(Glyphs, LetsNothingThroughThatATerminalWouldObey) {
  for (const char32_t glyph : {U'\0', U'\x1b', U'\x07', U'\n', U'\x7f', U'\x9b', U'\u202e', U'\u200b', U'\u0301',
                               char32_t{0xD800}, char32_t{0x110000}})
    EXPECT_EQ(printable(glyph, true), U'?') << static_cast<unsigned>(glyph);
}

TEST(Glyphs, ReplacesWhatTakesTwoColumns) {
  EXPECT_EQ(printable(U'波', true), U'?');
  EXPECT_EQ(printable(U'😀', true), U'?');
}

TEST(Glyphs, KeepsBlocksAndArrowsInUnicode) {
  for (const char32_t glyph : {U'▀', U'░', U'█', U'┊', U'→', U'é', U' ', U'~'})
    EXPECT_EQ(printable(glyph, true), glyph);
}

TEST(Glyphs, FindsAnAsciiCharacterForEveryGlyph) {
  for (char32_t glyph = 0; glyph < 0x3000; ++glyph) {
    const char32_t ascii = printable(glyph, false);
    EXPECT_TRUE(ascii >= U' ' && ascii <= U'~') << static_cast<unsigned>(glyph);
  }
}

TEST(Glyphs, DrawsFramesInAscii) {
  EXPECT_EQ(printable(U'│', false), U'|');
  EXPECT_EQ(printable(U'─', false), U'-');
  EXPECT_EQ(printable(U'┼', false), U'+');
}

TEST(Glyphs, EncodesEveryLengthOfUtf8) {
  EXPECT_EQ(utf8(U'a'), "a");
  EXPECT_EQ(utf8(U'é'), "é");
  EXPECT_EQ(utf8(U'▀'), "▀");
  EXPECT_EQ(utf8(U'😀'), "😀");
}

}  // namespace
}  // namespace idlewave::term
