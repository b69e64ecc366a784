#include "probe/wire/printable.h"

#include <gtest/gtest.h>

#include <random>

#include "probe/wire/utf8.h"
#include "tests/any_seed.h"

namespace idlewave::wire {
namespace {

TEST(Printable, LeavesTextThatATerminalShowsAsItIs) {
  for (const char* text : {"", "plain", "C:\\x1b is a path", "Grüße, µs → 日本語 ▆ 😀", "tested\\u202e twice"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
  }
}

TEST(Printable, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\x7f\b\r\tb"), "a\\x7f\\x08\\x0d\\x09b");
  EXPECT_EQ(printable(std::string_view("nul\0nul", 7)), "nul\\x00nul");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xc2\x85"),
            "\\u009b31m\\u0085");
}

TEST(Printable, WritesOutWhatReordersOrHidesText) {
  EXPECT_EQ(printable("gpj.\u202eexe"), "gpj.\\u202eexe");
  EXPECT_EQ(printable("\u2066\u2069\u200e\u200f\u061c"), "\\u2066\\u2069\\u200e\\u200f\\u061c");
  EXPECT_EQ(printable("ad\u200bmin\ufeff\u00ad"), "ad\\u200bmin\\ufeff\\u00ad");
  EXPECT_EQ(printable("\U000e0041"), "\\U000e0041");
}

TEST(Printable, WritesOutBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80") << "overlong NUL";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut off";
  EXPECT_EQ(printable("\xe2\x82\x1b"), "\\xe2\\x82\\x1b") << "an escape inside a broken sequence";
}

TEST(Printable, KeepsTheEndsOfLinesOnlyWhereThereMayBeLines) {
  EXPECT_EQ(printable("one\ntwo\u2028three"), "one\\x0atwo\\u2028three");
  EXPECT_EQ(printable_lines("one\ntwo\u2028three\r\n"), "one\ntwo\\u2028three\\x0d\n");
}

bool is_harmless(std::string_view text) {
  while (!text.empty()) {
    const auto c = take_code_point(text);
    if (!c || *c < 0x20 || (*c >= 0x7f && *c < 0xa0) || (*c >= 0x2028 && *c <= 0x202e)) return false;
    if ((*c >= 0x2066 && *c <= 0x2069) || *c == 0x61c || *c == 0xfeff) return false;
  }
  return true;
}

TEST(Printable, LetsNothingThroughOfAnyBytesAndChangesNothingTheSecondTime) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  constexpr std::string_view kParts[] = {"\x1b[", "\xe2\x80\xae", "\xc2", "\x9b", "a", "\xe2\x80", "\xf0\x9f", "\n"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto parts = random() % 12; parts > 0; --parts) {
      if (random() % 2)
        text += kParts[random() % std::size(kParts)];
      else
        text += static_cast<char>(random());
    }
    const std::string shown = printable(text);
    ASSERT_TRUE(is_harmless(shown)) << testing::PrintToString(text);
    ASSERT_EQ(printable(shown), shown);
  }
}

}  // namespace
}  // namespace idlewave::wire
