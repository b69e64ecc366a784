// Many frames at once against one batch after another.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/any_seed.h"
#include "tests/timeline/builders.h"
#include "tests/timeline/same_history.h"

namespace idlewave::timeline {
namespace {

constexpr Rank kRanks = 12;
const std::string kNodes[] = {"a", "b"};

/// What two nodes tell, frame by frame: lives with delays, drops and stops, samples of domains, ranks that nobody announced,
/// and frames that come twice.
class Told {
 public:
  explicit Told(std::mt19937_64& random, std::size_t events_each) {
    std::vector<std::vector<Event>> lives;
    for (Rank rank = 0; rank < kRanks; ++rank) lives.push_back(life(random, events_each));
    std::vector<std::size_t> next(kRanks);
    for (Nanoseconds until{}; next != ends(lives);) {
      until += Nanoseconds(std::int64_t(random() % 4'000'000));
      const Rank first = random() % 2 == 0 ? 0 : kRanks / 2;
      begin_frame(first == 0 ? kNodes[0] : kNodes[1]);
      for (Rank rank = first; rank < first + kRanks / 2; ++rank) {
        const auto& all = lives[std::size_t(rank)];
        std::size_t& from = next[std::size_t(rank)];
        std::size_t to = from;
        while (to < all.size() && all[to].time < until) ++to;
        if (random() % 100 == 0) add(rank_lane(rank == 0 ? kRanks : rank - 1), {all.begin(), all.begin() + 1});
        if (to > from) add(rank_lane(rank), {all.begin() + std::ptrdiff_t(from), all.begin() + std::ptrdiff_t(to)});
        if (random() % 100 != 0) from = to;  // or all of it once more
      }
      if (random() % 3 == 0)
        add(domain_lane(first / 10), {{until, random() % 1000, EventKind::kBandwidth, Phase::kNone}});
    }
  }

  struct Frame {
    std::string node;
    std::vector<Timeline::LaneEvents> lanes;
  };
  const std::vector<Frame>& frames() const { return frames_; }

 private:
  static std::vector<Event> life(std::mt19937_64& random, std::size_t count) {
    std::vector<Event> events = random_life(random, count, us(std::int64_t(random() % 5000)), 1e5);
    for (Event& event : events) {
      if (event.kind != EventKind::kSwitch || random() % 8 != 0) continue;
      event.kind = random() % 2 == 0 ? EventKind::kDelayBegin : EventKind::kDelayEnd;
      event.value = random() % 3;
    }
    return events;
  }
  static std::vector<std::size_t> ends(const std::vector<std::vector<Event>>& lives) {
    std::vector<std::size_t> ends;
    for (const auto& life : lives) ends.push_back(life.size());
    return ends;
  }
  void begin_frame(const std::string& node) { frames_.push_back({node, {}}); }
  void add(wire::LaneId lane, std::vector<Event> events) {
    kept_.push_back(std::move(events));
    frames_.back().lanes.push_back({lane, kept_.back()});
  }

  std::vector<Frame> frames_;
  std::deque<std::vector<Event>> kept_;
};

Timeline announced(std::uint64_t budget) {
  Timeline timeline(budget);
  timeline.apply_roster("a", roster(0, kRanks / 2, kRanks));
  timeline.apply_roster("b", roster(kRanks / 2, kRanks, kRanks));
  timeline.begin_at("a", Nanoseconds{0});
  return timeline;
}

Timeline one_by_one(const Told& told, std::uint64_t budget) {
  Timeline timeline = announced(budget);
  for (const Told::Frame& frame : told.frames())
    for (const Timeline::LaneEvents& told_of : frame.lanes) timeline.append(frame.node, told_of.lane, told_of.events);
  return timeline;
}

/// Now and then some of what was put off is appended, all of it or nothing.
Timeline many_at_once(const Told& told, std::uint64_t budget, std::mt19937_64& random) {
  Timeline timeline = announced(budget);
  for (const Told::Frame& frame : told.frames()) {
    timeline.put_off(frame.node, frame.lanes);
    const ByRank::Number batches = timeline.put_off_until() - timeline.put_off_from();
    if (random() % 20 == 0) timeline.append_put_off(timeline.put_off_from() + random() % (batches + 1));
  }
  timeline.append_put_off(timeline.put_off_until());
  return timeline;
}

/// What is summed from buckets alone, whichever events are kept.
void expect_same_buckets(const Lane& a, const Lane& b) {
  const Nanoseconds until = std::min(a.events_from(), b.events_from());
  ASSERT_GT(until, a.first());
  for (int slice = 0; slice < 64; ++slice) {
    const Nanoseconds from = a.first() + (until - a.first()) / 64 * slice;
    EXPECT_EQ(a.times(from, until), b.times(from, until));
  }
}

TEST(ManyFramesAtOnce, AreTheSameAsOneBatchAfterAnother) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const Told told(random, 200 + random() % 2000);
    const Timeline expected = one_by_one(told, 64 << 20), timeline = many_at_once(told, 64 << 20, random);
    expect_same_history(timeline, expected);
    expect_same_detail(timeline, expected);
  }
}

/// Which events are forgotten is another matter: whatever is kept are the latest ones.
TEST(ManyFramesAtOnce, KeepTheBudgetAndForgetTheOldestFirst) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 10; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const Told told(random, 4000);
    const Timeline all = one_by_one(told, 64 << 20), expected = one_by_one(told, 600'000);
    Timeline timeline = many_at_once(told, 600'000, random);
    expect_same_history(timeline, expected);
    std::size_t kept = 0;
    for (Rank rank = 0; rank < kRanks; ++rank) {
      const auto its = events_kept(*timeline.lane(rank)), whole = events_kept(*all.lane(rank));
      ASSERT_LT(its.size(), whole.size()) << "the budget was meant to be too small for all events";
      EXPECT_TRUE(std::ranges::equal(its, std::span(whole).last(its.size())));
      expect_same_buckets(*timeline.lane(rank), *expected.lane(rank));
      kept += its.size();
    }
    EXPECT_GT(kept, 0u);
    // What was lost since the last look at the budget counts at the next one.
    const Event late = enter(std::chrono::hours(1), Phase::kCompute);
    timeline.append("a", rank_lane(0), std::span(&late, 1));
    EXPECT_LE(timeline.bytes_used(), 600'000u);
  }
}

TEST(ManyFramesAtOnce, MayBeNone) {
  Timeline timeline = announced(64 << 20);
  timeline.put_off("a", {});
  timeline.append_put_off(timeline.put_off_until());
  EXPECT_TRUE(timeline.empty());
}

}  // namespace
}  // namespace idlewave::timeline
