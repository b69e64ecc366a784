// Numbers that an agent gives to what ranks name: partners and phases.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "probe/agent/partner_names.h"
#include "probe/agent/phase_names.h"
#include "tests/agent/parts.h"

namespace idlewave::agent {
namespace {

using wire::Phase;
using wire::Rank;

/// What a rank wrote into its slot.
class Book {
 public:
  /// `ranks`: those it receives from; `flags` as of idlewave_partners.
  void pattern(std::uint32_t number, const std::vector<Rank>& ranks, std::uint32_t flags = 0) {
    book_->patterns[number] = {1, flags, used_, std::uint32_t(ranks.size()), 0};
    for (const Rank rank : ranks) book_->ranks[used_++] = rank;
  }
  void cycle(std::uint32_t number, const std::vector<std::uint8_t>& symbols) {
    book_->cycles[number - 1] = {symbols_, std::uint32_t(symbols.size())};
    for (const std::uint8_t symbol : symbols) book_->symbols[symbols_++] = symbol;
  }
  shm::PartnerBook& operator*() { return *book_; }

 private:
  std::unique_ptr<shm::PartnerBook> book_ = std::make_unique<shm::PartnerBook>();
  std::uint32_t used_ = 0, symbols_ = 0;
};
constexpr std::uint8_t kEnd = shm::kEndOfStep;

TEST(PartnerNames, AreSharedByAllRanksOfARing) {
  PartnerNames names;
  constexpr Rank kRanks = 1000;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    Book book;
    book.pattern(5, {(rank + 1) % kRanks, (rank + kRanks - 1) % kRanks, -1});
    book.cycle(1, {5, kEnd});
    PartnerMap map;
    ASSERT_EQ(map.translate(1, *book, {rank, kRanks}, names), 1u);
  }
  ASSERT_EQ(names.patterns().size(), 1u);
  EXPECT_THAT(names.patterns()[0].from, testing::ElementsAre(-1, 1));
  ASSERT_EQ(names.cycles().size(), 1u);
}

TEST(PartnerNames, TellACollectiveOfAllFromOneOfAGroup) {
  PartnerNames names;
  Book book;
  book.pattern(0, {}, shm::PartnerBook::kCollective);
  book.pattern(1, {0, 1, 2, 3}, shm::PartnerBook::kCollective);
  book.pattern(2, {0, 2}, shm::PartnerBook::kCollective);
  book.pattern(3, {2}, shm::PartnerBook::kCollective);
  book.cycle(1, {0, kEnd, 1, kEnd, 2, 3, kEnd});
  PartnerMap map;
  ASSERT_EQ(map.translate(1, *book, {2, 4}, names), 1u);
  EXPECT_EQ(names.patterns(),
            (std::vector<wire::WaitPattern>{{false, true, {}, {}}, {false, true, {2}, {}}, {false, false, {}, {}}}));
  EXPECT_EQ(names.cycles()[0], (wire::WaitCycle{{{0}, {0}, {1, 2}}}));
}

TEST(PartnerNames, TakeNothingThatIsNotSound) {
  PartnerNames names;
  Book book;
  book.pattern(0, {1});
  book.cycle(1, {0, 7, kEnd});
  book.cycle(2, {0, 200, kEnd});
  (*book).cycles[2] = {shm::kCycleSymbols - 1, 3};
  (*book).cycles[3] = {0, 1'000'000'000};
  book.cycle(5, {9, kEnd});
  (*book).patterns[9] = {1, 0, shm::kPatternRanks - 1, 1, 1'000'000'000};
  book.cycle(6, {10, kEnd});
  (*book).patterns[10] = {1, 0, 4'000'000'000u, 4'000'000'000u, 4'000'000'000u};
  PartnerMap map;
  for (std::uint64_t cycle : {1, 2, 3, 4, 5, 6, 7, 64, 65, 1'000'000'000})
    EXPECT_EQ(map.translate(cycle, *book, {0, 4}, names), 0u) << cycle;
  EXPECT_TRUE(names.cycles().empty());
}

TEST(PartnerNames, LeaveOutRanksThatCantBe) {
  PartnerNames names;
  Book book;
  book.pattern(0, {0, 3, 4, -7, 2'000'000'000, 3});
  book.cycle(1, {0, kEnd});
  PartnerMap map;
  ASSERT_EQ(map.translate(1, *book, {0, 4}, names), 1u);
  EXPECT_THAT(names.patterns()[0].from, testing::ElementsAre(-1));
}

TEST(PartnerNames, StayWithinARosterWhateverRanksSay) {
  PartnerNames names;
  std::mt19937 random(1);
  std::vector<std::uint32_t> numbers;
  for (Rank rank = 0; rank < 300; ++rank) {
    Book book;
    for (std::uint32_t pattern = 0; pattern < 4; ++pattern) {
      std::vector<Rank> from(1000);
      for (Rank& each : from) each = Rank(random() % wire::kMaxRanks);
      book.pattern(pattern, from);
    }
    book.cycle(1, {0, 1, 2, 3, kEnd});
    PartnerMap map;
    numbers.push_back(map.translate(1, *book, {rank, wire::kMaxRanks}, names));
  }
  EXPECT_EQ(numbers.front(), 1u);
  EXPECT_EQ(numbers.back(), 0u);
  wire::Roster roster;
  roster.world_size = wire::kMaxRanks;
  roster.patterns = names.patterns();
  roster.cycles = names.cycles();
  const auto bytes = wire::encode({"s", "n", 1, roster});
  EXPECT_LT(bytes.size(), wire::kMaxFrameBytes / 4);
  EXPECT_TRUE(wire::decode(bytes));
}

TEST(PhaseNames, GiveEachNameANumber) {
  PhaseNames names;
  const Phase fft = names.number_of("fft", Phase::kCompute);
  EXPECT_EQ(std::uint8_t(fft), wire::kFirstUserPhase);
  EXPECT_NE(names.number_of("halo", Phase::kCommunicate), fft);
  EXPECT_EQ(names.number_of("fft", Phase::kCompute), fft);
}

TEST(PhaseNames, FallBackToTheCategoryWhenNumbersRunOut) {
  PhaseNames names;
  for (int i = wire::kFirstUserPhase; i < wire::kPhaseLimit; ++i) names.number_of(std::to_string(i), Phase::kCompute);
  EXPECT_EQ(names.number_of("one more", Phase::kWait), Phase::kWait);
  EXPECT_EQ(names.all().size(), std::size_t(wire::kPhaseLimit - wire::kFirstUserPhase));
}

}  // namespace
}  // namespace idlewave::agent
