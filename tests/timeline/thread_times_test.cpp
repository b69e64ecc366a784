// What threads did, against a count of every millisecond.

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "monitor/timeline/lane.h"
#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

Event threads(Nanoseconds time, std::uint64_t active, Phase phase) {
  return {time, active, EventKind::kThreads, phase};
}

/// A rank that tells all it knows, and what each of its milliseconds was.
struct ThreadedLife {
  struct Moment {
    Phase phase = Phase::kNone;
    std::optional<int> active;
  };
  std::vector<Event> events;
  std::vector<Moment> moments;  ///< By millisecond.
  int most = 0;

  explicit ThreadedLife(std::mt19937& random) {
    constexpr Phase kPhases[] = {Phase::kNone, Phase::kCompute, Phase::kWait, Phase::kCommunicate, Phase::kDelay};
    Moment now;
    events.push_back(start(ms(0)));
    for (int changes = int(random() % 200); changes > 0; --changes) {
      const Nanoseconds at = ms(int(moments.size()));
      if (random() % 3 == 0) {
        now.active = int(random() % 9);
        most = std::max(most, *now.active);
        events.push_back(threads(at, std::uint64_t(*now.active), now.phase));
      } else {
        now.phase = kPhases[random() % std::size(kPhases)];
        events.push_back(enter(at, now.phase));
      }
      moments.insert(moments.end(), random() % 5, now);
    }
  }

  /// In thread-milliseconds.
  ThreadTimes between(int from, int to) const {
    ThreadTimes found{.most = most};
    for (int i = from; i < std::min(to, int(moments.size())); ++i) {
      const auto& [phase, active] = moments[std::size_t(i)];
      if (!active || phase == Phase::kNone) continue;
      const bool calls = phase == Phase::kWait || phase == Phase::kCommunicate;
      found.known += 1;
      found.called += calls;
      found.worked += phase == Phase::kCompute ? *active : std::max(*active - 1, 0);
    }
    return found;
  }
};

constexpr double kMillisecond = 1e6;

void expect_same(const Lane& lane, const ThreadedLife& life, int from, int to) {
  const auto found = lane.thread_times(ms(from), ms(to));
  const ThreadTimes truth = life.between(from, to);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->most, truth.most);
  EXPECT_DOUBLE_EQ(found->known, truth.known * kMillisecond);
  EXPECT_DOUBLE_EQ(found->called, truth.called * kMillisecond);
  EXPECT_DOUBLE_EQ(found->worked, truth.worked * kMillisecond);
  EXPECT_NEAR(found->slept(), truth.slept() * kMillisecond, 1);
}

TEST(ThreadTimes, AreThoseOfEveryMillisecond) {
  std::mt19937 random(any_seed());
  int told = 0;
  for (int round = 0; round < 300; ++round) {
    const ThreadedLife life(random);
    const int length = int(life.moments.size());
    const Timeline timeline = timeline_of(life.events, ms(length));
    const Lane& lane = *timeline.lane(0);
    if (life.most == 0) continue;
    ++told;
    ASSERT_NO_FATAL_FAILURE(expect_same(lane, life, 0, length));
    for (int i = 0; i < 5; ++i) {
      const int from = int(random() % unsigned(length + 1)), to = from + int(random() % unsigned(length + 1));
      ASSERT_NO_FATAL_FAILURE(expect_same(lane, life, from, to)) << from << " to " << to;
    }
  }
  EXPECT_GT(told, 150);
}

TEST(ThreadTimes, AreNotKnownOfARankThatNeverToldHowManyItHas) {
  const Timeline timeline = timeline_of({start(ms(0)), enter(ms(1), Phase::kCompute)}, ms(9));
  EXPECT_FALSE(timeline.lane(0)->thread_times(ms(0), ms(9)));
}

TEST(ThreadTimes, OfTheNextProgramOfARankBeginWithOneThread) {
  const Timeline timeline =
      timeline_of({start(ms(0)), enter(ms(0), Phase::kCompute), threads(ms(0), 8, Phase::kCompute), stop(ms(10)),
                   start(ms(20)), enter(ms(20), Phase::kCompute)},
                  ms(30));
  EXPECT_EQ(timeline.lane(0)->thread_times(ms(0), ms(30))->worked, (8 * 10 + 10) * kMillisecond);
}

TEST(ThreadTimes, OfANumberThatNobodyHasStayFinite) {
  const Timeline timeline = timeline_of(
      {start(ms(0)), enter(ms(0), Phase::kCompute), threads(ms(0), ~std::uint64_t{0}, Phase::kCompute)}, ms(30));
  const auto found = timeline.lane(0)->thread_times(ms(0), ms(30));
  EXPECT_LE(found->most, 1 << 20);
  EXPECT_GE(found->slept(), 0);
}

}  // namespace
}  // namespace idlewave::timeline
