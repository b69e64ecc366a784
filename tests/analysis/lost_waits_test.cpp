// What is said of waits for ranks whose processes ended in the midst of a step: they are for those, and for no messages.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "monitor/analysis/causes/causes.h"
#include "tests/analysis/ring_model.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RingModel;
using wire::EventKind;
using wire::Phase;

/// Five ranks that nothing disturbs, until one of them ends in step `at`; the others wait until they are ended, too.
struct EndedProgram {
  RingModel model;
  bool collective = false;
  Rank lost = 0;
  int at = 0;
  bool in_a_wait = false;
  std::vector<Nanoseconds> ended;  ///< By rank.

  explicit EndedProgram(std::mt19937& random) {
    model.ranks = 5;
    model.ranks_per_domain = 5;
    collective = random() % 2 == 0;
    if (collective) model.collective_every = 1;
    lost = Rank(random() % 5);
    at = 10 + int(random() % 20);
    model.steps = at + 2;
    model.run();
    for (Rank rank = 0; rank < 5; ++rank)
      ended.push_back(ms(10 * (at + 2)) + ms(100) + Nanoseconds(random() % 2'000'000));
    lose_in_its_part(double(random() % 100) / 100);
  }
  void lose_in_its_part(double share) {
    in_a_wait = false;
    ended[std::size_t(lost)] = ms(10 * at) + Nanoseconds(std::int64_t(share * double(ms(10).count()))) + Nanoseconds{1};
  }
  void lose_in_a_wait() {
    in_a_wait = true;
    ended[std::size_t(lost)] = ms(10 * (at + 1)) + ms(1);
  }
  bool is_neighbour(Rank rank) const { return rank == (lost + 1) % 5 || lost == (rank + 1) % 5; }
  bool waits_for_it(Rank rank) const { return rank != lost && (collective || is_neighbour(rank)); }

  /// In which it ended: those who do not wait for the lost one go on to the next, where they wait for those who do.
  int last_step(Rank rank) const { return rank == lost || waits_for_it(rank) ? at : at + 1; }

  std::vector<wire::Event> events_of(Rank rank) const {
    const Nanoseconds end = ended[std::size_t(rank)];
    std::vector<wire::Event> events = model.events_of(rank);
    const auto is_later = [&](const wire::Event& event) {
      const bool is_next = event.kind == EventKind::kStep && std::int64_t(event.value) > last_step(rank);
      return is_next || event.kind == EventKind::kStop || event.time > end;
    };
    events.erase(std::ranges::find_if(events, is_later), events.end());
    if (in_a_wait && rank == lost) events.push_back({ms(10 * (at + 1)), 0, EventKind::kSwitch, Phase::kWait});
    events.push_back({end, 0, EventKind::kLost, Phase::kNone});
    return events;
  }

  causes::Causes causes() const {
    wire::Roster roster = model.roster();
    roster.patterns = {{.rendezvous = false,
                        .collective = collective,
                        .from = collective ? std::vector<Rank>{} : std::vector<Rank>{-1, 1},
                        .to = {}}};
    roster.cycles = {{{{0}}}};
    for (wire::RankInfo& rank : roster.ranks) rank.cycle = 1;
    timeline::Timeline timeline;
    EXPECT_TRUE(timeline.apply_roster("n1", roster));
    for (Rank rank = 0; rank < 5; ++rank) timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events_of(rank));
    timeline.advance("n1", std::ranges::max(ended));
    return causes::find_causes(timeline, Window{Nanoseconds{0}, Nanoseconds::max()}, causes::cause_ground(timeline));
  }
};

TEST(LostRanks, AreWhatOthersWaitedForWhereTheyHadNotDoneTheirPart) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  for (int i = 0; i < 40; ++i) {
    const EndedProgram program(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", program " << i
                                    << (program.collective ? ", collective" : ""));
    const causes::Causes causes = program.causes();
    Nanoseconds for_it{};
    for (Rank rank = 0; rank < 5; ++rank) {
      const causes::RankCauses& its = causes.ranks[std::size_t(rank)];
      EXPECT_EQ(its.transfer, Nanoseconds{0}) << rank;
      if (!program.waits_for_it(rank)) continue;
      const Nanoseconds waited = program.ended[std::size_t(rank)] - ms(10 * (program.at + 1));
      EXPECT_EQ(its.waited, waited) << rank;
      EXPECT_EQ(its.by_others().direct, waited) << rank;
      for_it += waited;
    }
    EXPECT_EQ(causes.ranks[std::size_t(program.lost)].costs.direct, for_it);
  }
}

TEST(LostRanks, AreNotSaidToHaveMessagesOnTheirWay) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  for (int i = 0; i < 40; ++i) {
    EndedProgram program(random);
    program.lose_in_a_wait();
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", program " << i
                                    << (program.collective ? ", collective" : ""));
    const causes::Causes causes = program.causes();
    for (Rank rank = 0; rank < 5; ++rank) {
      if (!program.waits_for_it(rank)) continue;
      const causes::RankCauses& its = causes.ranks[std::size_t(rank)];
      EXPECT_EQ(its.transfer, Nanoseconds{0}) << rank;
      EXPECT_EQ(its.unknown, its.waited) << rank;
    }
  }
}

}  // namespace
}  // namespace idlewave::analysis
