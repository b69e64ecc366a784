#include "monitor/term/ncurses_screen.h"

#include <gtest/gtest.h>

#include <clocale>
#include <iostream>

#include "monitor/term/glyphs.h"
#include "pictures.h"
#include "tests/any_seed.h"
#include "virtual_terminal.h"

namespace idlewave::term {
namespace {

using view::ColourDepth;
using view::Look;
using view::paint::Canvas;
using view::paint::Size;

constexpr Size kSize{80, 24};
constexpr Look kFull{.colours = ColourDepth::kIndexed256, .unicode = true};

TerminalInfo terminal(const char* name) {
  wire::Result<TerminalInfo> info = read_terminfo(name);
  EXPECT_TRUE(info) << name;
  return *info;
}

class NcursesScreenTest : public testing::Test {
 protected:
  NcursesScreenTest() { std::setlocale(LC_CTYPE, "C.UTF-8"); }
};

/// Slow and obvious: what the palette says of this cell, without a thought of what stood there before.
SeenCell expected(const view::paint::Cell& cell, const Look& look) {
  const Paint paint = paint_of(cell, look.colours);
  return {.glyph = printable(cell.glyph, look.unicode),
          .fg = paint.fg,
          .bg = paint.bg,
          .bold = paint.bold,
          .underline = paint.underline,
          .reverse = paint.reverse};
}

/// A blank shows no foreground.
SeenCell as_seen(SeenCell cell) {
  if (cell.glyph == U' ' && !cell.underline && !cell.reverse) cell.fg = -1, cell.bold = false;
  return cell;
}

/// The first place where terminal and picture differ, in words; empty if they agree.
std::string difference(const VirtualTerminal& terminal, const Canvas& picture, const Look& look) {
  const auto words = [](const SeenCell& cell) {
    return "U+" + std::to_string(static_cast<unsigned>(cell.glyph)) + " fg " + std::to_string(cell.fg) + " bg " +
           std::to_string(cell.bg) + (cell.bold ? " bold" : "") + (cell.underline ? " underline" : "") +
           (cell.reverse ? " reverse" : "");
  };
  for (int y = 0; y < picture.size().rows; ++y)
    for (int x = 0; x < picture.size().columns; ++x) {
      const SeenCell seen = as_seen(terminal.at(x, y));
      const SeenCell meant = as_seen(expected(picture.at(x, y), look));
      if (!(seen == meant))
        return "at " + std::to_string(x) + "," + std::to_string(y) + ": " + words(seen) + ", not " + words(meant);
    }
  return "";
}

/// Scrolls by a row when `first` grows by one.
Canvas numbered_rows(Size size, int first) {
  Canvas canvas(size);
  for (int y = 0; y < size.rows; ++y) canvas.text(0, y, "row " + std::to_string(first + y), view::paint::Ink::kText);
  return canvas;
}

void expect_random_pictures_arrive(const char* name, const Look& look, Size size) {
  const auto seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  NcursesScreen screen(terminal(name), look, size);
  VirtualTerminal seen(size);
  seen.feed(terminal(name).enter);
  Canvas picture = random_picture(random, size, look.unicode);
  for (int frame = 0; frame < 60; ++frame) {
    seen.feed(screen.draw(picture));
    ASSERT_EQ(difference(seen, picture, look), "") << "frame " << frame;
    picture = frame % 20 == 19 ? random_picture(random, size, look.unicode) : changed(random, picture, look.unicode);
  }
}

TEST_F(NcursesScreenTest, ShowsRandomPicturesIn256Colours) {
  expect_random_pictures_arrive("xterm-256color", kFull, kSize);
}

TEST_F(NcursesScreenTest, ShowsRandomPicturesInsideTmux) {
  expect_random_pictures_arrive("tmux-256color", kFull, kSize);
}

TEST_F(NcursesScreenTest, ShowsRandomPicturesInsideScreen) {
  expect_random_pictures_arrive("screen-256color", kFull, kSize);
}

TEST_F(NcursesScreenTest, ShowsRandomPicturesWithoutColours) {
  expect_random_pictures_arrive("xterm-256color", {.colours = ColourDepth::kNone, .unicode = true}, kSize);
}

TEST_F(NcursesScreenTest, ShowsRandomPicturesInAsciiOnAVt100) {
  expect_random_pictures_arrive("vt100", {.colours = ColourDepth::kNone, .unicode = false}, kSize);
}

TEST_F(NcursesScreenTest, ScrollsAllRowsOfATerminalThatHasMoreThanTheDatabaseThinksOf) {
  const Look look{.colours = ColourDepth::kNone, .unicode = false};
  for (const char* name : {"vt100", "linux", "xterm-256color", "tmux-256color"}) {
    NcursesScreen screen(terminal(name), look, {80, 24});
    VirtualTerminal seen({80, 40});
    seen.feed(screen.draw(numbered_rows({80, 24}, 0)));
    screen.start_over({80, 40});
    for (int first = 0; first < 10; ++first) {
      seen.feed(screen.draw(numbered_rows({80, 40}, first)));
      ASSERT_EQ(difference(seen, numbered_rows({80, 40}, first), look), "") << name << " from " << first;
    }
  }
}

TEST_F(NcursesScreenTest, ShowsRandomPicturesOnAWindowOf20By5) {
  expect_random_pictures_arrive("xterm-256color", kFull, {20, 5});
}

TEST_F(NcursesScreenTest, ShowsTheMonitorsPictureInEightColours) {
  const Look look{.colours = ColourDepth::kEight, .unicode = true};
  NcursesScreen screen(terminal("xterm"), look, kSize);
  VirtualTerminal seen(kSize);
  for (int time = 0; time < 20; ++time) {
    seen.feed(screen.draw(heat_map(kSize, time)));
    ASSERT_EQ(difference(seen, heat_map(kSize, time), look), "") << "time " << time;
  }
}

TEST_F(NcursesScreenTest, KeepsEveryGlyphWhenTheTerminalRunsOutOfColourPairs) {
  const Look look{.colours = ColourDepth::kEight, .unicode = true};
  Random random(1);
  const Canvas picture = random_picture(random, kSize);
  NcursesScreen screen(terminal("xterm"), look, kSize);
  VirtualTerminal seen(kSize);
  seen.feed(screen.draw(picture));
  for (int y = 0; y < kSize.rows; ++y)
    for (int x = 0; x < kSize.columns; ++x) ASSERT_EQ(seen.at(x, y).glyph, picture.at(x, y).glyph) << x << "," << y;
}

TEST_F(NcursesScreenTest, WritesNothingForAPictureThatIsThereAlready) {
  NcursesScreen screen(terminal("xterm-256color"), kFull, kSize);
  screen.draw(heat_map(kSize, 0));
  EXPECT_EQ(screen.draw(heat_map(kSize, 0)), "");
}

TEST_F(NcursesScreenTest, DrawsEverythingAgainAfterStartingOver) {
  NcursesScreen screen(terminal("xterm-256color"), kFull, kSize);
  screen.draw(heat_map(kSize, 0));
  screen.start_over({60, 10});
  VirtualTerminal seen({60, 10});
  seen.feed(screen.draw(heat_map({60, 10}, 0)));
  EXPECT_EQ(difference(seen, heat_map({60, 10}, 0), kFull), "");
}

TEST_F(NcursesScreenTest, ClipsAPictureThatIsLargerThanTheTerminal) {
  NcursesScreen screen(terminal("xterm-256color"), kFull, {20, 5});
  VirtualTerminal seen({20, 5});
  seen.feed(screen.draw(heat_map({60, 10}, 0)));
  EXPECT_EQ(seen.at(19, 4).glyph, U'▀');
}

TEST_F(NcursesScreenTest, LeavesTheRestEmptyWhenThePictureIsSmaller) {
  NcursesScreen screen(terminal("xterm-256color"), kFull, kSize);
  VirtualTerminal seen(kSize);
  seen.feed(screen.draw(heat_map(kSize, 0)));
  seen.feed(screen.draw(heat_map({40, 5}, 0)));
  EXPECT_EQ(seen.at(60, 20), SeenCell{});
}

TEST_F(NcursesScreenTest, ScrollsAHeatMapForATenthOfDrawingIt) {
  for (const char* name : {"xterm-256color", "tmux-256color"}) {
    const Size size{160, 50};
    NcursesScreen screen(terminal(name), kFull, size);
    const std::size_t full = screen.draw(heat_map(size, 0)).size();
    const std::size_t scrolled = screen.draw(heat_map(size, 1)).size();
    std::cout << name << " 160x50: full " << full << " B, scrolled by a column " << scrolled << " B\n";
    EXPECT_LT(scrolled, full / 10) << name;
  }
}

}  // namespace
}  // namespace idlewave::term
