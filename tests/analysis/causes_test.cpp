// Who made whom wait, where that is known in closed form, and where it is not known.

#include "monitor/analysis/causes/causes.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/analysis/cause_judge.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using support::Protocol;
using support::Topology;
using test::EventsOfRanks;
using test::ground_of;
using test::ms;
using test::Table;
using test::table_of;
using ::testing::IsEmpty;
using tests::ExactProgram;
using wire::EventKind;
using wire::Phase;

constexpr Window kWholeRun{Nanoseconds{0}, Nanoseconds::max()};

ExactProgram ring_of(Rank ranks, int steps) {
  ExactProgram program;
  program.ranks = ranks;
  program.ranks_per_domain = 8;
  program.steps = steps;
  program.time = 0.010;
  program.communication.protocol = Protocol::kEager;
  return program;
}

/// Nobody computes longer than others, so each wait is the delay's: two ranks wait for the one that was held, all others
/// for those who did.
TEST(Causes, OfOneDelayAreTheRankThatWasHeld) {
  ExactProgram program = ring_of(21, 40);
  program.delays = {{4, 6, ms(70)}};
  const Table table = table_of(program, simulate(program));
  const causes::Causes causes = causes::find_causes(timeline_of(table), kWholeRun);
  EXPECT_EQ(causes.ranks[4].costs, (causes::Cost{.direct = 2 * ms(70), .far = 18 * ms(70)}));
  EXPECT_EQ(causes.ranks[4].waited, Nanoseconds{0});
  for (Rank rank = 0; rank < 21; ++rank) {
    if (rank == 4) continue;
    const bool next_to_it = rank == 3 || rank == 5;
    const causes::Cost cost = next_to_it ? causes::Cost{ms(70), {}} : causes::Cost{{}, ms(70)};
    EXPECT_EQ(causes.ranks[std::size_t(rank)].by, (std::vector<causes::Culprit>{{4, cost}})) << rank;
  }
}

/// However far away: all others go at its pace.
TEST(Causes, OfAChainWithOneSlowRankAreThatRank) {
  ExactProgram program = ring_of(16, 60);
  program.communication.topology = Topology::kChain;
  program.noise = [](int rank, int) { return rank == 3 ? 0.002 : 0.0; };
  const causes::Causes causes = causes::find_causes(timeline_of(table_of(program, simulate(program))), kWholeRun);
  for (Rank rank = 0; rank < 16; ++rank) {
    const causes::RankCauses& mine = causes.ranks[std::size_t(rank)];
    if (rank == 3) {
      EXPECT_THAT(mine.by, IsEmpty());
      continue;
    }
    ASSERT_EQ(mine.by.size(), 1u) << rank;
    EXPECT_EQ(mine.by[0].rank, 3);
    // It is reached one step later for each rank between, and then waits 2 ms in each step.
    EXPECT_EQ(mine.waited, (59 - std::abs(rank - 3) + 1) * ms(2)) << rank;
    EXPECT_EQ(mine.by[0].cost.sum(), mine.waited);
  }
}

/// Who was late is not known, so nobody is accused.
TEST(Causes, AreUnknownWhereAPartnersStepIsLost) {
  ExactProgram program = ring_of(12, 30);
  program.delays = {{4, 6, ms(70)}};
  const Table table = table_of(program, simulate(program));
  EventsOfRanks events = events_of(table);
  std::erase_if(events[4], [&](const wire::Event& event) { return event.time < table.at(4, 10).begin; });
  events[4].front() = {events[4].front().time, 0, EventKind::kStart, Phase::kNone};
  const timeline::Timeline timeline = timeline_of(table, events);
  const causes::Causes causes = causes::find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, true}));
  test::expect_conserved(timeline, causes);
  for (const Rank rank : {3, 5}) {
    EXPECT_THAT(causes.ranks[std::size_t(rank)].by, IsEmpty());
    EXPECT_EQ(causes.ranks[std::size_t(rank)].unknown, ms(70));
  }
}

/// Its steps have other numbers than those of the others, so that it seems to do its part when they have gone on.
TEST(Causes, AreUnknownWhereAPartnerCountsOtherwise) {
  ExactProgram program = ring_of(12, 30);
  program.delays = {{4, 6, ms(70)}};
  const Table table = table_of(program, simulate(program));
  EventsOfRanks events = events_of(table);
  std::erase_if(events[4], [](const wire::Event& event) { return event.kind == EventKind::kStep && event.value == 6; });
  for (wire::Event& event : events[4])
    if (event.kind == EventKind::kStep && event.value > 6) event.value -= 1;
  const timeline::Timeline timeline = timeline_of(table, events);
  const causes::Causes causes = causes::find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, true}));
  test::expect_conserved(timeline, causes);
  for (const Rank rank : {3, 5}) {
    EXPECT_THAT(causes.ranks[std::size_t(rank)].by, IsEmpty());
    EXPECT_GE(causes.ranks[std::size_t(rank)].unknown, ms(70));
    EXPECT_LT(causes.ranks[std::size_t(rank)].transfer, ms(1));
  }
}

/// Rank 4 does the second half of its work behind the first half of its wait, so that others may have waited for that.
TEST(Causes, AreUnknownWhereAPartnerWorksBetweenTwoWaits) {
  ExactProgram program = ring_of(12, 30);
  program.communication.time = ms(4);
  const Table table = table_of(program, simulate(program));
  EventsOfRanks events = events_of(table);
  std::vector<wire::Event> turned;
  for (const wire::Event& event : events[4]) {
    const bool waits = event.kind == EventKind::kSwitch && event.phase == Phase::kWait;
    if (waits) {
      turned.push_back({event.time - ms(5), 0, EventKind::kSwitch, Phase::kWait});
      turned.push_back({event.time - ms(3), 0, EventKind::kSwitch, Phase::kCompute});
      turned.push_back({event.time + ms(2), 0, EventKind::kSwitch, Phase::kWait});
    } else {
      turned.push_back(event);
    }
  }
  events[4] = turned;
  const timeline::Timeline timeline = timeline_of(table, events);
  const causes::Causes causes = causes::find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, true}));
  test::expect_conserved(timeline, causes);
  for (const Rank rank : {3, 4, 5}) {
    EXPECT_EQ(causes.ranks[std::size_t(rank)].transfer, ms(0)) << rank;
    EXPECT_GE(causes.ranks[std::size_t(rank)].unknown, 29 * ms(4)) << rank;
  }
  EXPECT_EQ(causes.ranks[8].unknown, ms(0));
  EXPECT_GE(causes.ranks[8].transfer, 29 * ms(4));
}

/// In a loop over requests, with a little between one and the next, and one that is there already before the last of the work.
TEST(Causes, OfWaitsWithNextToNoWorkBetweenThemAreMessages) {
  constexpr Nanoseconds kThere{3'000}, kApart{300'000};
  ExactProgram program = ring_of(12, 30);
  program.communication.time = ms(4);
  const Table table = table_of(program, simulate(program));
  EventsOfRanks events = events_of(table);
  std::vector<wire::Event> parted;
  const auto tell = [&](Nanoseconds at, Phase phase) { parted.push_back({at, 0, EventKind::kSwitch, phase}); };
  for (const wire::Event& event : events[4]) {
    const bool waits = event.kind == EventKind::kSwitch && event.phase == Phase::kWait;
    if (waits) {
      tell(event.time - ms(5), Phase::kWait);
      tell(event.time - ms(5) + kThere, Phase::kCompute);
    }
    parted.push_back(event);
    for (int i = 1; waits && i <= 10; ++i) {
      tell(event.time + i * kApart, Phase::kCompute);
      tell(event.time + i * kApart + kApart / 3, Phase::kWait);
    }
  }
  events[4] = parted;
  const timeline::Timeline timeline = timeline_of(table, events);
  const causes::Causes causes = causes::find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, true}));
  test::expect_conserved(timeline, causes);
  for (const Rank rank : {3, 4, 5}) {
    EXPECT_EQ(causes.ranks[std::size_t(rank)].unknown, ms(0)) << rank;
    EXPECT_GE(causes.ranks[std::size_t(rank)].transfer, 28 * ms(3)) << rank;
  }
}

/// Messages are sent, and receives posted, before the work: a step ends when that is done and the neighbours have begun
/// theirs.
Table overlapped(Rank ranks, int steps, Rank held, int in_step, Nanoseconds delay) {
  Table table{.ranks = std::vector<std::vector<test::Times>>(std::size_t(ranks))};
  std::vector<Nanoseconds> begin(std::size_t(ranks), Nanoseconds{0});
  for (int step = 0; step < steps; ++step) {
    const std::vector<Nanoseconds> begun = begin;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto i = std::size_t(rank);
      const Nanoseconds post = begun[i] + ms(10) + (rank == held && step == in_step ? delay : ms(0));
      begin[i] = std::max(
          {post, begun[std::size_t(std::max(rank - 1, 0))], begun[std::size_t(std::min(rank + 1, ranks - 1))]});
      table.ranks[i].push_back(
          {.begin = begun[i], .work_begin = begun[i], .work_end = post, .post = post, .end = begin[i]});
    }
  }
  return table;
}

/// Each rank hides one more step of work, and all that is not hidden is the late rank's.
TEST(Causes, OfAnExchangeThatIsStartedBeforeTheWorkAreWhoBeganLate) {
  constexpr Nanoseconds kCall = std::chrono::microseconds(1);
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(seed);
    const Rank ranks = std::uniform_int_distribution<>(4, 20)(random);
    const Rank held = std::uniform_int_distribution<>(0, ranks - 1)(random);
    const auto delay = Nanoseconds(std::uniform_int_distribution<std::int64_t>(15'000'000, 90'000'000)(random));
    const Table table = overlapped(ranks, 60, held, 12, delay);
    EventsOfRanks events = events_of(table);
    for (auto& lane : events) {
      std::vector<wire::Event> told;
      for (wire::Event event : lane) {
        if (event.phase == Phase::kCompute && event.kind != EventKind::kStep) {
          told.push_back(event);
          told.back().phase = Phase::kCommunicate;
          event.time += kCall, event.kind = EventKind::kSwitch;
        }
        told.push_back(event);
      }
      lane = told;
    }
    const timeline::Timeline timeline = timeline_of(table, events);
    const causes::Causes causes = causes::find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, false}));
    test::expect_conserved(timeline, causes);
    Nanoseconds unhidden{};
    for (Rank distance = 1; distance < ranks; ++distance)
      unhidden += std::max(ms(0), delay - distance * ms(10)) * ((held - distance >= 0) + (held + distance < ranks));
    EXPECT_NEAR(double(causes.ranks[std::size_t(held)].costs.sum().count()), double(unhidden.count()),
                double(ranks * 60 * kCall.count()));
    for (Rank rank = 0; rank < ranks; ++rank) {
      EXPECT_LE(causes.ranks[std::size_t(rank)].unknown, 60 * kCall) << rank;
      if (rank == held) continue;
      EXPECT_LE(causes.ranks[std::size_t(rank)].costs.sum(), 60 * kCall) << rank;
    }
  }
}

TEST(CauseFinder, TellsALargeWindowInSeveralCalls) {
  ExactProgram program = ring_of(16, 60);
  program.noise = [](int rank, int) { return rank == 3 ? 0.002 : 0.0; };
  const Table small = table_of(program, simulate(program));
  Table table{.ranks = {}, .ranks_per_domain = 64};
  for (int copy = 0; copy < 160; ++copy) table.ranks.insert(table.ranks.end(), small.ranks.begin(), small.ranks.end());
  const timeline::Timeline timeline = timeline_of(table);
  causes::CauseFinder finder(timeline);
  do finder.follow();
  while (finder.is_learning());
  EXPECT_THAT(finder.observe(kWholeRun).ranks, IsEmpty());
  while (finder.observe(kWholeRun).ranks.empty()) {
  }
  const causes::Causes found = finder.observe(kWholeRun), whole = causes::find_causes(timeline, kWholeRun);
  ASSERT_EQ(found.ranks.size(), whole.ranks.size());
  for (std::size_t rank = 0; rank < found.ranks.size(); ++rank) EXPECT_EQ(found.ranks[rank].by, whole.ranks[rank].by);
  test::expect_conserved(timeline, found);
}

}  // namespace
}  // namespace idlewave::analysis
