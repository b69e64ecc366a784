#include "probe/words/sides.h"

#include <gmock/gmock.h>

#include <random>
#include <string>

#include "tests/any_seed.h"

namespace idlewave::words {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Sides kBox{.fewest = 3, .most = 3, .shortest = 2, .longest = 100, .example = "48x32x32"};
constexpr Sides kGrid{.most = 3, .longest = 1000, .example = "2x8"};

TEST(Sides, AreWholeNumbersWithAnXBetweenThem) {
  EXPECT_THAT(*parse_sides("16x8x4", kBox), ElementsAre(16, 8, 4));
  EXPECT_THAT(*parse_sides(" 16 x 8 x 4 ", kBox), ElementsAre(16, 8, 4));
  EXPECT_THAT(*parse_sides("7", kGrid), ElementsAre(7));
  EXPECT_THAT(*parse_sides("7x1000", kGrid), ElementsAre(7, 1000));
}

TEST(Sides, OfAnotherFormAreRefusedWithWhatIsAccepted) {
  for (const char* wrong : {"", "16", "16x8", "16x8x4x2", "16x8x1", "16x8x101", "16X8X4", "16x8x", "x8x4", "axbxc",
                            "16x8x4.0", "16x8x-4", "99999999999x8x4", "16,8,4"}) {
    const auto sides = parse_sides(wrong, kBox);
    ASSERT_FALSE(sides) << wrong;
    EXPECT_EQ(sides.error().message,
              "\"" + std::string(wrong) + "\" is not of the form 48x32x32, 3 whole numbers from 2 to 100");
  }
  EXPECT_THAT(parse_sides("2x2x2x2", kGrid).error().message, HasSubstr("2x8, up to 3 whole numbers from 1 to 1000"));
}

TEST(Sides, AreAcceptedWhereEachOfThemIs) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  for (int i = 0; i < 10'000; ++i) {
    std::vector<int> sides(random() % 5 + 1);
    std::string text;
    bool all = sides.size() == 3;
    for (int& side : sides) {
      side = int(random() % 140);
      text += (text.empty() ? "" : "x") + std::to_string(side);
      all = all && side >= 2 && side <= 100;
    }
    const auto parsed = parse_sides(text, kBox);
    ASSERT_EQ(bool(parsed), all) << text;
    if (all) {
      EXPECT_EQ(*parsed, sides) << text;
    }
  }
}

}  // namespace
}  // namespace idlewave::words
