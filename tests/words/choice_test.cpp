#include "probe/words/choice.h"

#include <gmock/gmock.h>

namespace idlewave::words {
namespace {

enum class Fruit { kApple, kPear, kPlum };
/// Not in the order of the values.
constexpr Choices<Fruit, 3> kFruits{{{"plum", Fruit::kPlum}, {"apple", Fruit::kApple}, {"pear", Fruit::kPear}}};

TEST(Choice, IsReadAndWrittenByOneTable) {
  for (const auto& [word, fruit] : kFruits) {
    EXPECT_EQ(*parse_choice<Fruit>(word, kFruits), fruit);
    EXPECT_EQ(word_of(fruit, kFruits), word);
  }
  EXPECT_EQ(*parse_choice<Fruit>(" pear ", kFruits), Fruit::kPear);
}

TEST(Choice, SaysWhichWordsThereAre) {
  EXPECT_EQ(parse_choice<Fruit>("fig", kFruits).error().message, "\"fig\" is not one of plum, apple, pear");
  EXPECT_EQ(parse_choices<Fruit>("plum,fig", kFruits).error().message, "\"fig\" is not one of plum, apple, pear");
  EXPECT_FALSE(parse_choices<Fruit>("", kFruits));
}

TEST(Choice, OfSeveralKeepsTheirOrder) {
  EXPECT_THAT(*parse_choices<Fruit>("pear, plum,pear", kFruits),
              testing::ElementsAre(Fruit::kPear, Fruit::kPlum, Fruit::kPear));
}

}  // namespace
}  // namespace idlewave::words
