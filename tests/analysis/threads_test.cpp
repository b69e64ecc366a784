#include "monitor/analysis/domains/threads.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::analysis {
namespace {

using timeline::enter;
using timeline::ms;
using timeline::rank_lane;
using timeline::start;
using timeline::stop;
using timeline::Timeline;
using wire::Event;
using wire::EventKind;
using wire::Phase;

constexpr Window kWholeRun{ms(0), ms(1000)};

/// A rank that works all the time, and one thread beside it.
Timeline timeline_of_two(const std::vector<Event>& of_thread) {
  Timeline timeline = timeline::timeline_of({start(ms(0)), enter(ms(0), Phase::kCompute)}, ms(1000));
  timeline.append("n", wire::ThreadId{0, 1}, of_thread);
  return timeline;
}

TEST(Threads, AreNotKnownWhereNobodyTellsOfThem) {
  const Timeline timeline = timeline::timeline_of({start(ms(0)), enter(ms(0), Phase::kCompute)}, ms(1000));
  EXPECT_EQ(domains::thread_use(timeline, kWholeRun), std::nullopt);
  EXPECT_TRUE(domains::thread_lane_times(timeline, kWholeRun).empty());
}

TEST(Threads, WithALaneCountFromTheirFirstEventOn) {
  const Timeline timeline =
      timeline_of_two({start(ms(200)), enter(ms(200), Phase::kCompute), enter(ms(400), Phase::kWait),
                       enter(ms(500), Phase::kNone), stop(ms(600))});
  const auto use = domains::thread_use(timeline, kWholeRun);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->ranks, 1);
  EXPECT_DOUBLE_EQ(use->most, 2);
  EXPECT_DOUBLE_EQ(use->working, (800 + 200) / 800.0);
  EXPECT_DOUBLE_EQ(use->calling, 100 / 800.0);
  EXPECT_DOUBLE_EQ(use->asleep, 500 / 800.0) << "beside what it told of, it was not there";
  const auto times = domains::thread_lane_times(timeline, kWholeRun);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].thread, (wire::ThreadId{0, 1}));
  EXPECT_EQ(times[0].compute, ms(200));
  EXPECT_EQ(times[0].wait, ms(100));
  EXPECT_EQ(times[0].other, ms(100));
}

/// A team that the rank counts, and a thread that is none of it.
TEST(Threads, WithALaneAreAddedToThoseThatTheRankTellsOf) {
  Timeline timeline = timeline::timeline_of({start(ms(0)),
                                             enter(ms(0), Phase::kCompute),
                                             {ms(0), 4, EventKind::kThreads, Phase::kCompute},
                                             {ms(500), 1, EventKind::kThreads, Phase::kCompute}},
                                            ms(1000));
  timeline.append("n", wire::ThreadId{0, 1}, std::vector{start(ms(0)), enter(ms(0), Phase::kWait)});
  const auto use = domains::thread_use(timeline, kWholeRun);
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(use->most, 5);
  EXPECT_DOUBLE_EQ(use->working, 2.5);
  EXPECT_DOUBLE_EQ(use->calling, 1);
  EXPECT_DOUBLE_EQ(use->asleep, 1.5);
}

/// Against a count of every millisecond.
TEST(Threads, WithLanesDoWhatTheirEventsSay) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr Phase kPhases[] = {Phase::kNone, Phase::kCompute, Phase::kWait, Phase::kCommunicate};
  for (int round = 0; round < 50; ++round) {
    Timeline timeline = timeline::timeline_of({start(ms(0)), enter(ms(0), Phase::kCompute)}, ms(1000));
    const int threads = 1 + int(random() % 5), from = int(random() % 500), to = from + 1 + int(random() % 500);
    double working = to - from, calling = 0;
    for (int thread = 1; thread <= threads; ++thread) {
      std::vector<Event> events{start(ms(0))};
      for (int at = 0; at < 1000;) {
        const Phase phase = kPhases[random() % std::size(kPhases)];
        const int end = std::min(at + 1 + int(random() % 200), 1000);
        events.push_back(enter(ms(at), phase));
        const int inside = std::max(std::min(end, to) - std::max(at, from), 0);
        working += phase == Phase::kCompute ? inside : 0;
        calling += phase == Phase::kWait || phase == Phase::kCommunicate ? inside : 0;
        at = end;
      }
      timeline.append("n", wire::ThreadId{0, thread}, events);
    }
    const auto use = domains::thread_use(timeline, Window{ms(from), ms(to)});
    ASSERT_TRUE(use);
    EXPECT_DOUBLE_EQ(use->most, threads + 1);
    EXPECT_NEAR(use->working, working / (to - from), 1e-9);
    EXPECT_NEAR(use->calling, calling / (to - from), 1e-9);
    EXPECT_NEAR(use->working + use->calling + use->asleep, threads + 1, 1e-9);
  }
}

}  // namespace
}  // namespace idlewave::analysis
