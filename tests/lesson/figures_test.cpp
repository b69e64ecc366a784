#include "monitor/lesson/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace idlewave::lesson {
namespace {

using testing::HasSubstr;

std::string refusal_of(std::string_view text, std::string_view unit) {
  const auto value = parse_quantity(text, unit);
  return value ? "" : value.error().message;
}

TEST(Figures, AreEachFoundByItsPath) {
  std::set<std::string_view> paths;
  for (const Figure& figure : figures()) {
    EXPECT_TRUE(paths.insert(figure.path).second) << figure.path;
    std::string path(figure.path);
    if (const auto hole = path.find(".N."); hole != std::string::npos) path.replace(hole, 3, ".-1.");
    if (path.ends_with(".N")) path.replace(path.size() - 1, 1, "3");
    const auto found = parse_figure_path(path);
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(found->figure, &figure);
    EXPECT_EQ(found->path, path);
    EXPECT_FALSE(found->label().empty());
    EXPECT_TRUE(figure.unit.empty() != figure.words.empty()) << "a figure has a unit, or is one of some words";
    EXPECT_TRUE(figure.unit.empty() || is_unit(figure.unit)) << figure.path;
  }
}

TEST(Figures, RefuseAPathThatNoFindingHasAndSayWhichThereAre) {
  for (const char* path :
       {"", ".", "domains", "domains.1", "domains..active_mean", "domains.x.active_mean", "domains.1.active_mean.",
        "domains.1.5.active_mean", "domains.99999999999.active_mean", "waves.-1.up.speed", "causes.ranks",
        "wavefront.slopes_ranks_per_s", "wavefront.slopes_ranks_per_s.x", "wavefront.slopes_ranks_per_s.1.2"}) {
    const auto found = parse_figure_path(path);
    ASSERT_FALSE(found) << path;
    EXPECT_THAT(found.error().message, HasSubstr("domains.N.active_mean"));
  }
}

TEST(Figures, NameTheSocketAndTheWave) {
  EXPECT_EQ(parse_figure_path("domains.3.active_mean")->label(), "active ranks on socket 3");
  EXPECT_EQ(parse_figure_path("wavefront.slopes_ranks_per_s.4")->label(), "slope of the wavefront on socket 4");
  EXPECT_EQ(parse_figure_path("waves.-1.delay_s")->label(), "length of the delay");
  EXPECT_EQ(parse_figure_path("waves.-2.delay_s")->label(), "length of the delay of the wave before");
}

TEST(Quantities, AreReadInTheUnitOfTheReport) {
  EXPECT_EQ(*parse_quantity(" 5 ranks ", "ranks"), 5);
  EXPECT_EQ(*parse_quantity("1 rank", "ranks"), 1);
  EXPECT_EQ(*parse_quantity("1 rank/step", "ranks/step"), 1);
  EXPECT_EQ(*parse_quantity("-0.5ranks/s", "ranks/s"), -0.5);
  EXPECT_EQ(*parse_quantity("400 ms", "s"), 0.4);
  EXPECT_EQ(*parse_quantity("25 ms/rank", "s/rank"), 0.025);
  EXPECT_EQ(*parse_quantity("50 GB/s", "GB/s"), 50);
  EXPECT_EQ(*parse_quantity("75 %", "%"), 0.75);
  EXPECT_EQ(*parse_quantity("1 link", "links"), 1);
  EXPECT_EQ(*parse_quantity("2880 messages", "messages"), 2880);
  EXPECT_EQ(*parse_quantity("2.85 kB", "B"), 2850);
}

TEST(Quantities, NeedTheirUnitWhereItWasNotSaidYet) {
  EXPECT_EQ(refusal_of("5", "ranks"), "\"5\" is no number in ranks; write it as in 12 ranks");
  EXPECT_EQ(refusal_of("0.4", "s"), "\"0.4\" is no number in s; write it as in 400 ms");
  for (const char* text :
       {"", "ranks", "five ranks", "5 ms", "5 ranks/step", "nan ranks", "inf ranks", "1e999 ranks", "5 5 ranks"})
    EXPECT_NE(refusal_of(text, "ranks"), "") << text;
  EXPECT_EQ(*parse_answer("5", "ranks"), 5);
  EXPECT_EQ(*parse_answer("5 ranks", "ranks"), 5);
  EXPECT_FALSE(parse_answer("5", "s")) << "a time without a unit may be anything";
  EXPECT_FALSE(parse_answer("5", "B")) << "and so may a size";
  EXPECT_EQ(refusal_of("5 links", "B"), "\"5 links\" is no number in B; write it as in 10 kB");
  EXPECT_FALSE(parse_answer("5 s", "ranks"));
}

TEST(Quantities, AreShownWithTheirUnitAndAsManyDigitsAsTheErrorLeaves) {
  EXPECT_EQ(quantity_in_words(5, {}, "ranks"), "5 ranks");
  EXPECT_EQ(quantity_in_words(1, {}, "ranks"), "1 rank");
  EXPECT_EQ(quantity_in_words(1, {}, "ranks/step"), "1 rank/step");
  EXPECT_EQ(quantity_in_words(5.1412, 0.0151, "ranks"), "5.14 ± 0.02 ranks");
  EXPECT_EQ(quantity_in_words(9.313, 0.0029, "ranks"), "9.31 ± 0.01 ranks");
  EXPECT_EQ(quantity_in_words(5.0, 0.2, "ranks"), "5.0 ± 0.2 ranks");
  EXPECT_EQ(quantity_in_words(0.06, {}, "s"), "60 ms");
  EXPECT_EQ(quantity_in_words(0.0123, 0.001, "s/rank"), "12 ± 1 ms/rank");
  EXPECT_EQ(quantity_in_words(0.753, {}, "%"), "75.3 %");
  EXPECT_EQ(quantity_in_words(0, {}, "s"), "0 s");
  EXPECT_EQ(quantity_in_words(0, 0.0, "ranks"), "0 ranks");
  EXPECT_EQ(quantity_in_words(1234, 17.0, "ranks"), "1234 ± 17 ranks");
  EXPECT_EQ(quantity_in_words(1.8, {}, "times"), "1.8 times");
  EXPECT_EQ(quantity_in_words(1, {}, "times"), "1 times");
  EXPECT_EQ(quantity_in_words(1, {}, "links"), "1 link");
  EXPECT_EQ(quantity_in_words(14, {}, "links"), "14 links");
  EXPECT_EQ(quantity_in_words(1, {}, "threads"), "1 thread");
  EXPECT_EQ(quantity_in_words(176, {}, "B"), "176 B");
  EXPECT_EQ(quantity_in_words(2868.48, {}, "B"), "2.87 kB");
  EXPECT_EQ(quantity_in_words(1.85e6, 0.02e6, "B"), "1.85 ± 0.02 MB");
}

TEST(Quantities, AreShownWithoutAnErrorThatIsOnlyRounding) {
  EXPECT_EQ(quantity_in_words(0, 1e-18, "s/rank"), "0 s/rank");
  EXPECT_EQ(quantity_in_words(5, 1e-12, "ranks"), "5 ranks");
}

TEST(Quantities, AreReadAsTheyAreShown) {
  for (const Figure& figure : figures()) {
    for (const double value : {0.0, 1.0, 0.25, 5.5, 40.0}) {
      if (figure.unit.empty()) continue;
      const std::string shown = quantity_in_words(value, {}, figure.unit);
      const auto read = parse_quantity(shown, figure.unit);
      ASSERT_TRUE(read) << shown << ": " << read.error().message;
      EXPECT_DOUBLE_EQ(*read, value) << shown;
    }
  }
}

}  // namespace
}  // namespace idlewave::lesson
