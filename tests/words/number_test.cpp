#include "probe/words/number.h"

#include <gtest/gtest.h>

namespace idlewave::words {
namespace {

std::string complaint(const wire::Result<double>& number) { return number ? "" : number.error().message; }

TEST(ParseNumber, TakesFractionsSignsExponentsAndSpacesAround) {
  EXPECT_EQ(*parse_number("1.25"), 1.25);
  EXPECT_EQ(*parse_number(" -0.5\t"), -0.5);
  EXPECT_EQ(*parse_number("2e-3", 0, 1), 0.002);
  EXPECT_EQ(*parse_number("0", 0, 1), 0);
  EXPECT_EQ(*parse_number("1", 0, 1), 1);
}

TEST(ParseNumber, SaysWhatIsAccepted) {
  EXPECT_EQ(complaint(parse_number("1.5", 0, 1)), "\"1.5\" is not a number from 0 to 1");
  EXPECT_EQ(complaint(parse_number("-1", 0)), "\"-1\" is not a number from 0 on");
  EXPECT_EQ(complaint(parse_number("many")), "\"many\" is not a number");
}

TEST(ParseNumber, RefusesWhatIsNoneOrHasSomethingBehindIt) {
  for (const char* text : {"", " ", "1.5x", "1 2", "1,5", "nan", "inf", "-inf", "1e999", "+1", "0x10"})
    EXPECT_FALSE(parse_number(text)) << text;
}

TEST(TakeNumber, LeavesWhatStandsBehindIt) {
  std::string_view text = "2.5 ranks/step ";
  EXPECT_EQ(take_number(text), 2.5);
  EXPECT_EQ(text, "ranks/step");
  EXPECT_EQ(take_number(text), std::nullopt);
  EXPECT_EQ(text, "ranks/step");
}

}  // namespace
}  // namespace idlewave::words
