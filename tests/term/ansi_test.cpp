#include "monitor/term/ansi.h"

#include <gtest/gtest.h>

#include "monitor/term/glyphs.h"
#include "monitor/term/palette.h"
#include "pictures.h"
#include "tests/any_seed.h"
#include "virtual_terminal.h"

namespace idlewave::term {
namespace {

using view::ColourDepth;
using view::Look;
using view::paint::Canvas;
using view::paint::Ink;

Canvas words(Ink ink) {
  Canvas canvas({10, 2});
  canvas.text(0, 0, "wait", ink);
  return canvas;
}

TEST(Ansi, IsPlainTextWherePictureHasNoMeaning) { EXPECT_EQ(to_ansi(words(Ink::kText), {}), "wait\n\n"); }

TEST(Ansi, SelectsAColourAndGivesItBackAtTheEndOfTheRow) {
  EXPECT_EQ(to_ansi(words(Ink::kDelay), {}), "\x1b[0;38;5;166mwait\x1b[0m\n\n");
}

TEST(Ansi, UsesTheEightColoursWhereThereAreNoMore) {
  EXPECT_EQ(to_ansi(words(Ink::kDelay), {.colours = ColourDepth::kEight}), "\x1b[0;35mwait\x1b[0m\n\n");
}

TEST(Ansi, UsesAttributesAloneWithoutColours) {
  EXPECT_EQ(to_ansi(words(Ink::kDelay), {.colours = ColourDepth::kNone}), "\x1b[0;1mwait\x1b[0m\n\n");
}

TEST(Ansi, WritesAsciiAloneWithoutUnicode) {
  const std::string text = to_ansi(heat_map({60, 5}, 0), {.unicode = false});
  for (const char byte : text) ASSERT_LT(static_cast<unsigned char>(byte), 0x80);
}

TEST(Ansi, LooksOnATerminalAsThePaletteMeans) {
  const auto seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  const Canvas picture = random_picture(random, {60, 20});
  for (const ColourDepth depth : {ColourDepth::kIndexed256, ColourDepth::kEight, ColourDepth::kNone}) {
    std::string text = to_ansi(picture, {.colours = depth});
    for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 2)) text.insert(at, "\r");
    VirtualTerminal seen({61, 21});
    seen.feed(text);
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 60; ++x) {
        const Paint paint = paint_of(picture.at(x, y), depth);
        ASSERT_EQ(seen.at(x, y).glyph, picture.at(x, y).glyph) << x << "," << y;
        ASSERT_EQ(seen.at(x, y).bg, paint.bg) << x << "," << y;
        const bool blank = picture.at(x, y).glyph == U' ';
        ASSERT_TRUE(blank || seen.at(x, y).fg == paint.fg) << x << "," << y;
      }
  }
}

}  // namespace
}  // namespace idlewave::term
