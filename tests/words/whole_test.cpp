#include "probe/words/whole.h"

#include <gmock/gmock.h>

namespace idlewave::words {
namespace {

using testing::ElementsAre;

TEST(Whole, NumbersAreReadOneByOneInTheirOrder) {
  EXPECT_THAT(*parse_wholes("3,1,10", 1, 10), ElementsAre(3, 1, 10));
  EXPECT_THAT(*parse_wholes(" 3, -1 ", -5, 10), ElementsAre(3, -1));
  EXPECT_THAT(*parse_wholes("7", 1, 10), ElementsAre(7));
}

TEST(Whole, NumbersOfWhichOneIsNoneAreRefusedByThat) {
  for (const auto& [text, wrong] : {std::pair{"3,11", "11"}, {"3,,1", ""}, {"", ""}, {"1,2x,99", "2x"}, {"1;2", "1;2"}})
    EXPECT_EQ(parse_wholes(text, 1, 10).error().message,
              fmt::format("\"{}\" is not a whole number from 1 to 10", wrong));
}

}  // namespace
}  // namespace idlewave::words
