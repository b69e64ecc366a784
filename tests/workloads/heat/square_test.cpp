// The plate against its closed form, and command lines of iw-heat.

#include "workloads/heat/square.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "workloads/heat/options.h"

namespace idlewave::heat {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Field = std::vector<std::vector<double>>;

Field field_of(const Square& square, std::int64_t step) {
  Field field(square.width(), std::vector<double>(square.width()));
  for (int row = 0; row < int(square.width()); ++row) set_row(square, row, step, field[std::size_t(row)].data());
  return field;
}

Field after(Field field, const Square& square, int steps) {
  for (int step = 0; step < steps; ++step) {
    Field next = field;
    for (std::size_t row = 1; row + 1 < square.width(); ++row)
      update_row(square, field[row - 1].data(), field[row].data(), field[row + 1].data(), next[row].data());
    field = std::move(next);
  }
  return field;
}

double error_of(const Field& field, const Square& square, std::int64_t step) {
  double largest = 0;
  for (int row = 0; row < int(square.width()); ++row)
    largest = std::max(largest, error_of_row(square, row, step, field[std::size_t(row)].data()));
  return largest;
}

TEST(Plate, BecomesWhatItMust) {
  for (const int points : {1, 2, 7, 20}) {
    const Square square{points};
    EXPECT_LT(error_of(after(field_of(square, 0), square, 50), square, 50), 1e-13) << points;
  }
}

TEST(Plate, CoolsDownToWhatItsWallsSay) {
  const Square square{5};
  const Field field = after(field_of(square, 0), square, 2000);
  for (std::size_t row = 0; row < square.width(); ++row)
    for (const double found : field[row]) EXPECT_NEAR(found, double(row) / 6, 1e-13);
}

TEST(Plate, IsWrongWithARowOfTheStepBefore) {
  const Square square{20};
  Field field = after(field_of(square, 0), square, 10);
  field[7] = after(field_of(square, 0), square, 9)[7];
  EXPECT_GT(error_of(after(field, square, 1), square, 11), 1e-4);
  field[7][3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of(after(field, square, 1), square, 11), std::numeric_limits<double>::infinity());
}

wire::Result<std::variant<Options, Text>> parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "iw-heat");
  return parse_options(int(words.size()), words.data(), 4);
}

std::string why_not(std::vector<const char*> words) {
  const auto found = parsed(std::move(words));
  return found ? "accepted" : found.error().message;
}

TEST(HeatOptions, NameSizesAndMemories) {
  const Options options = std::get<Options>(*parsed({"--sizes", "20, 1000", "--memory", "pages"}));
  EXPECT_EQ(options.squares[1].points, 1000);
  EXPECT_THAT(options.memories, ElementsAre(Memory::kPages));
}

TEST(HeatOptions, RefuseWhatCannotBe) {
  EXPECT_THAT(why_not({"--sizes", "20,3"}), HasSubstr("3 rows are fewer than the 4 ranks"));
  EXPECT_THAT(why_not({"--sizes", "0"}), HasSubstr("--sizes"));
  EXPECT_THAT(why_not({"--memory", "shared"}), HasSubstr("not one of messages, pages"));
  EXPECT_THAT(why_not({"--threads", "0"}), HasSubstr("--threads"));
}

}  // namespace
}  // namespace idlewave::heat
