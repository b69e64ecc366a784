#include "probe/words/ranks.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace idlewave::words {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using wire::Rank;
using wire::RankRange;

std::vector<Rank> ranks_in(std::string_view text) { return each_of(*parse_ranks(text, 40)); }

TEST(Ranks, AreNamedAloneAndInRanges) {
  EXPECT_THAT(ranks_in("5"), ElementsAre(5));
  EXPECT_THAT(ranks_in("20, 0-3"), ElementsAre(0, 1, 2, 3, 20));
  EXPECT_THAT(ranks_in(" 3 - 4 ,39"), ElementsAre(3, 4, 39));
}

TEST(Ranks, NamedTwiceAreMeantOnce) {
  EXPECT_THAT(*parse_ranks("0-5,3-8,6"), ElementsAre(RankRange{0, 9}));
  EXPECT_THAT(*parse_ranks("0-4,5-9"), ElementsAre(RankRange{0, 10}));
}

TEST(Ranks, ThatAreNotThereAreRefused) {
  for (const char* wrong : {"", " ", "40", "-1", "5-3", "0-40", "a", "1-", "-", "99999999999", "2147483647", "1 2",
                            "1,", ",1", "1-2-3", "0x5", "1.5"}) {
    const auto ranks = parse_ranks(wrong, 40);
    ASSERT_FALSE(ranks) << wrong;
    EXPECT_THAT(ranks.error().message, HasSubstr("from 0 to 39")) << wrong;
  }
  EXPECT_EQ(parse_ranks("0", 0).error().message, "there are no ranks yet");
}

TEST(Ranks, AreReadBackAsTheyAreWritten) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 2000; ++i) {
    std::set<Rank> chosen;
    std::string each;
    for (auto count = 1 + random() % 30; count > 0; --count) {
      const Rank rank = static_cast<Rank>(random() % 60);
      chosen.insert(rank);
      each += (each.empty() ? "" : ",") + std::to_string(rank);
    }
    const auto ranges = parse_ranks(each, 60);
    ASSERT_TRUE(ranges) << each;
    EXPECT_THAT(each_of(*ranges), testing::ElementsAreArray(chosen)) << each;
    EXPECT_EQ(*parse_ranks(to_words(*ranges), 60), *ranges) << to_words(*ranges);
  }
}

}  // namespace
}  // namespace idlewave::words
