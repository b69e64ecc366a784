#include "probe/sampler/declared.h"
#include "tests/any_seed.h"
#include "tests/sampler/file_tree.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>
#include <vector>

namespace idlewave::sampler {
namespace {

using std::chrono::milliseconds;
using wire::Event;
using wire::EventKind;
using wire::Phase;

/// A rank on domain 0 that repeats compute phases of `length` which declare `bytes` each, then waits `pause`, told
/// event by event as time goes on; returns the figure of each interval.
struct Program {
  Nanoseconds length;
  Nanoseconds pause;
  double bytes;
  int phases;
};

struct Told {
  std::vector<double> figures;
  double sum() const { return std::accumulate(figures.begin(), figures.end(), 0.0); }
  double highest() const { return *std::max_element(figures.begin(), figures.end()); }
};

std::vector<Event> events_of(const Program& program) {
  std::vector<Event> events{{ms(0), 0, EventKind::kStart, Phase::kNone}};
  Nanoseconds time{};
  for (int i = 0; i < program.phases; ++i) {
    events.push_back({time, 0, EventKind::kSwitch, Phase::kCompute});
    events.push_back({time, std::uint64_t(program.bytes), EventKind::kTraffic, Phase::kCompute});
    time += program.length;
    events.push_back({time, 0, EventKind::kSwitch, Phase::kWait});
    time += program.pause;
  }
  events.push_back({time, 0, EventKind::kStop, Phase::kNone});
  return events;
}

Told listen_to(const std::vector<Event>& events, Nanoseconds until) {
  Declared declared;
  declared.place(3, 0);
  declared.begin(0, ms(0));
  Told told;
  auto next = events.begin();
  for (Nanoseconds now{}; now <= until; now += ms(20)) {
    for (; next != events.end() && next->time <= now; ++next) declared.observe(3, {*next});
    if (const auto bytes = declared.sample(0, now)) told.figures.push_back(double(*bytes));
  }
  return told;
}

TEST(Declared, CountsEveryByteOnce) {
  const Program program{ms(30), ms(10), 1e6, 100};
  EXPECT_NEAR(listen_to(events_of(program), ms(10'000)).sum(), 100e6, 2);
}

TEST(Declared, TellsTheMeanBandwidthOfShortPhases) {
  const Program program{ms(30), ms(10), 1e6, 100};
  const Told told = listen_to(events_of(program), ms(4000));
  for (std::size_t i = 1; i + 1 < told.figures.size(); ++i) EXPECT_NEAR(told.figures[i], 5e6, 1.1e6) << i;
}

TEST(Declared, NeverShowsALongPhaseAsASpike) {
  // 1 GB/s while it computes for 2 s: no 200 ms can hold more than 0.2 GB, but for what an unknown first phase left
  // over.
  const Program program{ms(2000), ms(0), 2e9, 6};
  const Told told = listen_to(events_of(program), ms(11'900));
  EXPECT_LT(told.highest(), 2.2 * 0.2e9);
}

TEST(Declared, PutsBandwidthWhereALongPhaseRunsOnceItKnowsItsLength) {
  const Program program{ms(1000), ms(1000), 1e9, 4};
  const Told told = listen_to(events_of(program), ms(8000));
  const auto between = [&](int from_ms, int to_ms) {
    return std::accumulate(told.figures.begin() + from_ms / 200, told.figures.begin() + to_ms / 200, 0.0);
  };
  EXPECT_NEAR(between(4000, 5000), 1e9, 0.05e9);  // third phase
  EXPECT_NEAR(between(5000, 6000), 0, 0.05e9);    // third pause
}

TEST(Declared, TakesTrafficThatIsDeclaredWhenThePhaseIsNearlyOver) {
  std::vector<Event> events;
  for (int i = 0; i < 5; ++i) {
    events.push_back({ms(1000 * i), 0, EventKind::kSwitch, Phase::kCompute});
    events.push_back({ms(1000 * i + 990), 1'000'000'000, EventKind::kTraffic, Phase::kCompute});
  }
  const Told told = listen_to(events, ms(7500));
  EXPECT_LT(told.highest(), 2.2 * 0.2e9);
  EXPECT_NEAR(told.sum(), 5e9, 0.3e9);
}

TEST(Declared, CountsWhatIsLeftWhenTheRankIsLost) {
  const std::vector<Event> events{{ms(0), 0, EventKind::kSwitch, Phase::kCompute},
                                  {ms(0), 1'000'000, EventKind::kTraffic, Phase::kCompute},
                                  {ms(50), 0, EventKind::kLost, Phase::kNone}};
  EXPECT_EQ(listen_to(events, ms(400)).sum(), 1e6);
}

TEST(Declared, AddsUpTheRanksOfADomain) {
  Declared declared;
  for (const wire::Rank rank : {0, 1, 2}) {
    declared.place(rank, rank == 2 ? 1 : 0);
    declared.observe(rank, {{ms(0), 0, EventKind::kSwitch, Phase::kCompute}});
    declared.observe(rank, {{ms(0), 100, EventKind::kTraffic, Phase::kCompute}});
    declared.observe(rank, {{ms(10), 0, EventKind::kStop, Phase::kNone}});
  }
  EXPECT_EQ(declared.sample(0, ms(200)), 200u);
  EXPECT_EQ(declared.sample(1, ms(200)), 100u);
}

TEST(Declared, IsReadyOnceTrafficWasDeclaredOnADomain) {
  Declared declared;
  declared.place(0, 4);
  declared.observe(0, {{ms(0), 0, EventKind::kSwitch, Phase::kCompute}});
  EXPECT_FALSE(declared.standing({4}, ms(0)).ready);
  declared.observe(0, {{ms(0), 1, EventKind::kTraffic, Phase::kCompute}});
  EXPECT_TRUE(declared.standing({4}, ms(0)).ready);
  EXPECT_FALSE(declared.standing({5}, ms(0)).ready);
  EXPECT_FALSE(declared.standing({.id = 4, .is_virtual = true}, ms(0)).ready);
}

TEST(Declared, CountsEveryByteOnceWhateverThePhasesAre) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  double declared_bytes = 0;
  std::vector<Event> events;
  Nanoseconds time{};
  for (int i = 0; i < 500; ++i) {
    const Phase phase{std::uint8_t(1 + random() % 4)};
    events.push_back({time, 0, random() % 2 != 0 ? EventKind::kSwitch : EventKind::kEnter, phase});
    for (auto n = random() % 3; n > 0; --n) {
      time += Nanoseconds(random() % 1'000'000);
      const auto bytes = random() % 1'000'000;
      declared_bytes += double(bytes);
      events.push_back({time, bytes, EventKind::kTraffic, phase});
    }
    time += Nanoseconds(random() % 500'000'000);
  }
  events.push_back({time, 0, EventKind::kLost, Phase::kNone});
  EXPECT_NEAR(listen_to(events, time + ms(400)).sum(), declared_bytes, 2);
}

}  // namespace
}  // namespace idlewave::sampler
