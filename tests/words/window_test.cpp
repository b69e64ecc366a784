#include "probe/words/window.h"

#include <gmock/gmock.h>

#include <random>

#include "probe/words/whole.h"
#include "tests/any_seed.h"

namespace idlewave::words {
namespace {

using testing::HasSubstr;

TEST(Window, IsTwoFractionsInOrder) {
  EXPECT_EQ(*parse_window("0.6:0.9"), (Fractions{0.6, 0.9}));
  EXPECT_EQ(*parse_window("0:1"), (Fractions{0, 1}));
}

TEST(Window, OfAnotherFormIsRefusedWithAnExample) {
  for (const char* wrong : {"", "0.5", "0.9:0.6", "0.5:0.5", "-0.1:0.5", "0.5:1.1", "a:b", "0.1:0.2x", "nan:1", "0:nan",
                            "0.1:0.2:0.3", ":", "0,1:0,2"}) {
    const auto window = parse_window(wrong);
    ASSERT_FALSE(window) << wrong;
    EXPECT_THAT(window.error().message, HasSubstr("0.6:0.9")) << wrong;
  }
}

TEST(Window, IsReadBackAsItIsWritten) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> fraction(0, 1);
  for (int i = 0; i < 10'000; ++i) {
    const double a = fraction(random), b = fraction(random);
    if (a == b) continue;
    const Fractions window{std::min(a, b), std::max(a, b)};
    EXPECT_EQ(*parse_window(to_words(window)), window) << to_words(window);
  }
}

TEST(ScreenSize, IsColumnsTimesRows) {
  EXPECT_EQ(*parse_screen_size("160x48"), (ScreenSize{160, 48}));
  for (const ScreenSize size : {ScreenSize{1, 1}, ScreenSize{1000, 1000}, ScreenSize{80, 24}})
    EXPECT_EQ(*parse_screen_size(to_words(size)), size);
}

TEST(ScreenSize, OfAnotherFormIsRefusedWithAnExample) {
  for (const char* wrong :
       {"", "160", "0x0", "1001x5", "5x1001", "-1x5", "160x48x2", "160X48", "axb", "99999999999x1"}) {
    const auto size = parse_screen_size(wrong);
    ASSERT_FALSE(size) << wrong;
    EXPECT_THAT(size.error().message, HasSubstr("160x48")) << wrong;
  }
}

TEST(Whole, IsANumberWithinItsBounds) {
  EXPECT_EQ(*parse_whole<int>(" 7 ", 0, 9), 7);
  EXPECT_EQ(*parse_whole<int>("-1", -1, 1), -1);
  EXPECT_EQ(*parse_whole<std::uint64_t>("18446744073709551615", 0, ~std::uint64_t{0}), ~std::uint64_t{0});
  for (const char* wrong : {"", "10", "-1", "7.0", "7x", "x7", "99999999999999999999999"})
    EXPECT_EQ(parse_whole<int>(wrong, 0, 9).error().message,
              "\"" + std::string(wrong) + "\" is not a whole number from 0 to 9");
}

}  // namespace
}  // namespace idlewave::words
