// The timeline's sums against integrating the events one by one, on random lives.

#include <gtest/gtest.h>

#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

/// A window somewhere in [begin, end) or a little outside of it, of any length from microseconds to everything.
std::pair<Nanoseconds, Nanoseconds> random_window(std::mt19937_64& random, Nanoseconds begin, Nanoseconds end) {
  const auto span = double((end - begin).count());
  const double length = span * std::exp(-std::uniform_real_distribution(0.0, 12.0)(random));
  const double from = std::uniform_real_distribution(-0.05 * span, 1.05 * span)(random);
  return {begin + Nanoseconds(std::int64_t(from)), begin + Nanoseconds(std::int64_t(from + length) + 1)};
}

struct Life {
  std::vector<Event> events;
  Nanoseconds up_to{};
  std::vector<Stretch> stretches;
};

Life live(std::mt19937_64& random, std::size_t count, Nanoseconds begin, double mean_ns) {
  Life life;
  life.events = random_life(random, count, begin, mean_ns);
  life.up_to = life.events.back().time + Nanoseconds(std::int64_t(random() % 50'000'000));
  life.stretches = stretches_of(life.events, life.up_to);
  return life;
}

/// Appends in frames of random size, so that buckets and blocks end anywhere.
void feed(Timeline& timeline, std::mt19937_64& random, Rank rank, const std::vector<Event>& events) {
  for (std::size_t at = 0; at < events.size();) {
    const std::size_t count = std::min(events.size() - at, std::size_t(1 + random() % 300));
    timeline.append("n", rank_lane(rank), std::span(events).subspan(at, count));
    at += count;
  }
}

class Oracle : public testing::Test {
 protected:
  void SetUp() override { RecordProperty("seed", std::to_string(seed_)); }
  const std::uint64_t seed_ = any_seed();
  std::mt19937_64 random_{seed_};
};

TEST_F(Oracle, AgreesExactlyWhereEventsAreKept) {
  for (const double mean : {2e3, 1e5, 3e6, 2e8}) {
    const Life life = live(random_, 3000, Nanoseconds{0}, mean);
    Timeline timeline;
    timeline.apply_roster("n", roster(1));
    feed(timeline, random_, 0, life.events);
    timeline.advance("n", life.up_to);
    for (int i = 0; i < 300; ++i) {
      const auto [from, to] = random_window(random_, life.events.front().time, life.up_to);
      const auto expected = times_by_hand(life.stretches, from, to);
      for (int c = 0; c < kCategories; ++c)
        ASSERT_EQ(timeline.lane(0)->time_in(Category(c), from, to), expected[std::size_t(c)])
            << "seed " << seed_ << ", mean " << mean << ", window " << from.count() << ".." << to.count()
            << ", category " << c;
    }
  }
}

TEST_F(Oracle, SumsOfStepsAreThoseOfTheStepsThatAreKept) {
  for (const std::uint64_t budget : {20'000u, 128u << 10, 64u << 20}) {
    const Life life = live(random_, 20000, Nanoseconds{0}, 1e5);
    Timeline timeline(budget);
    timeline.apply_roster("n", roster(1));
    feed(timeline, random_, 0, life.events);
    timeline.advance("n", life.up_to);
    for (int i = 0; i < 300; ++i) {
      auto [from, to] = random_window(random_, life.events.front().time, life.up_to);
      from = std::max(from, Nanoseconds{0});
      StepSums expected;
      for (const StepRecord& step : timeline.lane(0)->steps())
        if (step.end > from && step.end <= to) expected += step.sums();
      EXPECT_EQ(timeline.lane(0)->sums_of_steps(from, to), expected)
          << "seed " << seed_ << ", budget " << budget << ", window " << from.count() << ".." << to.count();
    }
  }
}

/// Longest time by which a figure from buckets may differ: 1/255 of the window for the rounding, and for each of its
/// two ends one bucket of the finest level that still reaches back so far.
double bucket_tolerance(Nanoseconds from, Nanoseconds to, Nanoseconds end, double buckets_kept) {
  double width = std::ldexp(1.0, Pyramid::kBaseShift);
  while (width * (buckets_kept - 2) < double((end - from).count())) width *= 2;
  return double((to - from).count()) / 255 + 2 * width + 10;
}

TEST_F(Oracle, AgreesWithinTheBucketsWhereEventsAreForgotten) {
  for (const double mean : {1e5, 3e6, 2e8}) {
    const Life life = live(random_, 20000, Nanoseconds{0}, mean);
    Timeline timeline(128 << 10);
    timeline.apply_roster("n", roster(1));
    feed(timeline, random_, 0, life.events);
    timeline.advance("n", life.up_to);
    const Lane& lane = *timeline.lane(0);
    ASSERT_GT(lane.events_from(), life.events[10000].time) << "the budget was meant to be too small for all events";
    for (int i = 0; i < 200; ++i) {
      const auto [from, to] = random_window(random_, life.events.front().time, life.up_to);
      const auto expected = times_by_hand(life.stretches, from, to);
      const double tolerance = bucket_tolerance(from, to, life.up_to, 512);
      for (int c = 0; c < kCategories; ++c)
        ASSERT_NEAR(double(lane.time_in(Category(c), from, to).count()), double(expected[std::size_t(c)].count()),
                    tolerance)
            << "seed " << seed_ << ", mean " << mean << ", window " << from.count() << ".." << to.count()
            << ", category " << c;
    }
  }
}

/// For each column: share by category, by hand, over all ranks of a row.
std::vector<Shares> row_by_hand(const std::vector<Life>& lives, Rank first, Rank last, Nanoseconds from, Nanoseconds to,
                                int columns) {
  std::vector<Shares> row(static_cast<std::size_t>(columns));
  const double width = double((to - from).count()) / columns;
  for (int i = 0; i < columns; ++i) {
    const Nanoseconds begin = from + Nanoseconds(std::llround(width * i));
    const Nanoseconds end = from + Nanoseconds(std::llround(width * (i + 1)));
    for (Rank rank = first; rank < last; ++rank) {
      const auto times = times_by_hand(lives[std::size_t(rank)].stretches, begin, end);
      for (std::size_t c = 0; c < kCategories; ++c)
        row[std::size_t(i)].of[c] += float(double(times[c].count()) / width / (last - first));
    }
  }
  return row;
}

struct Crowd {
  std::vector<Life> lives;
  Timeline timeline;
  Nanoseconds up_to{};
};

Crowd crowd(std::mt19937_64& random, Rank ranks, std::size_t events, double mean, std::uint64_t budget) {
  Crowd crowd{{}, Timeline(budget), {}};
  crowd.timeline.apply_roster("n", roster(ranks));
  for (Rank rank = 0; rank < ranks; ++rank)
    crowd.lives.push_back(live(random, events, us(std::int64_t(random() % 5000)), mean));
  crowd.lives[0].events[0].time = Nanoseconds{0};
  for (Life& life : crowd.lives) crowd.up_to = std::max(crowd.up_to, life.up_to);
  crowd.timeline.begin_at("n", Nanoseconds{0});
  for (Rank rank = 0; rank < ranks; ++rank) {
    crowd.lives[std::size_t(rank)].stretches = stretches_of(crowd.lives[std::size_t(rank)].events, crowd.up_to);
    feed(crowd.timeline, random, rank, crowd.lives[std::size_t(rank)].events);
  }
  crowd.timeline.advance("n", crowd.up_to);
  return crowd;
}

/// Largest amount by which the running sum over a row's columns departs from the oracle's, in columns: what is shifted
/// over a column's border counts once and not twice.
double worst_departure(std::span<const Shares> row, std::span<const Shares> expected, std::size_t category) {
  double sum = 0;
  double worst = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    sum += double(row[i].of[category]) - double(expected[i].of[category]);
    worst = std::max(worst, std::abs(sum));
  }
  return worst;
}

void expect_picture(const Crowd& crowd, Nanoseconds from, Nanoseconds to, int columns, double tolerance_columns,
                    std::uint64_t seed) {
  const auto ranks = Rank(crowd.lives.size());
  const std::array rows = {Timeline::RankRange{0, 1}, Timeline::RankRange{1, ranks / 2},
                           Timeline::RankRange{ranks / 2, ranks}};
  std::vector<Shares> picture(rows.size() * std::size_t(columns));
  crowd.timeline.picture(rows, from, to, columns, picture);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto expected = row_by_hand(crowd.lives, rows[r].first, rows[r].last, from, to, columns);
    const auto row = std::span(picture).subspan(r * std::size_t(columns), std::size_t(columns));
    for (std::size_t c = 0; c < kCategories; ++c)
      ASSERT_LE(worst_departure(row, expected, c), tolerance_columns + columns / 255.0)
          << "seed " << seed << ", row " << r << ", category " << c << ", window " << from.count() << ".."
          << to.count();
  }
}

TEST_F(Oracle, AgreesWithThePictureOfFewRanks) {
  for (const double mean : {1e4, 1e6, 1e8}) {
    const Crowd c = crowd(random_, 7, 800, mean, 64 << 20);
    for (int i = 0; i < 30; ++i) {
      const auto [from, to] = random_window(random_, Nanoseconds{0}, c.up_to);
      const int columns = 1 + int(random_() % 90);
      // Where events are too many to be walked, a quarter of a column, but no bucket is finer than the finest.
      const double bucket = std::ldexp(1.0, Pyramid::kBaseShift) * columns / double((to - from).count());
      expect_picture(c, from, to, columns, std::max(0.3, std::min(bucket, 1.0) + 0.05), seed_);
    }
  }
}

TEST_F(Oracle, AgreesWithThePictureOfManyRanks) {
  const Crowd c = crowd(random_, 2100, 60, 2e6, 512 << 20);
  for (int i = 0; i < 6; ++i) {
    const auto [from, to] = random_window(random_, Nanoseconds{0}, c.up_to);
    const int columns = int(std::clamp<std::int64_t>((to - from).count() >> Pyramid::kBaseShift, 1, 40));
    expect_picture(c, from, to, columns, 1.1, seed_);
  }
}

TEST_F(Oracle, AgreesWithThePictureOfWhatIsForgotten) {
  const Crowd c = crowd(random_, 20, 20000, 1e6, 2 << 20);
  ASSERT_GT(c.timeline.lane(3)->events_from(), c.lives[3].events[5000].time);
  for (int i = 0; i < 12; ++i) {
    const auto [from, to] = random_window(random_, Nanoseconds{0}, c.up_to);
    const double tolerance = bucket_tolerance(from, to, c.up_to, 512) / (double((to - from).count()) / 50);
    expect_picture(c, from, to, 50, tolerance, seed_);
  }
}

TEST_F(Oracle, FindsThatCategoriesAndTheUnknownFillAnyWindow) {
  const Life life = live(random_, 2000, Nanoseconds{0}, 1e6);
  const Timeline timeline = timeline_of(life.events, life.up_to);
  for (int i = 0; i < 100; ++i) {
    const auto [from, to] = random_window(random_, Nanoseconds{0}, life.up_to);
    std::array<Shares, 7> shares;
    timeline.lane(0)->shares(from, to, shares);
    double known = 0;
    for (const Shares& each : shares) known += double(each.known()) / 7;
    double known_by_hand = 0;
    for (const Stretch& stretch : life.stretches) known_by_hand += double(overlap(stretch, from, to).count());
    ASSERT_NEAR(known, known_by_hand / double((to - from).count()), 1e-5) << "seed " << seed_;
  }
}

TEST_F(Oracle, AgreesWithStepRecords) {
  const Life life = live(random_, 4000, Nanoseconds{0}, 1e6);
  const Timeline timeline = timeline_of(life.events, life.up_to);
  std::size_t record = 0;
  for (std::size_t i = 0; i < life.events.size(); ++i) {
    if (life.events[i].kind != EventKind::kStep) continue;
    const auto ends = [](const Event& event) {
      return event.kind == EventKind::kStep || event.kind == EventKind::kStop;
    };
    const auto next = std::find_if(life.events.begin() + std::ptrdiff_t(i) + 1, life.events.end(), ends);
    if (next == life.events.end()) break;
    const StepRecord step = timeline.lane(0)->steps()[record++];
    const Event& before = *(next - 1);
    // Who has left its last phase is done with its last step.
    const auto end = next->kind == EventKind::kStop && before.phase == Phase::kNone ? before.time : next->time;
    const auto times = times_by_hand(life.stretches, life.events[i].time, end);
    ASSERT_EQ(step.step, wire::Step(life.events[i].value)) << "seed " << seed_;
    ASSERT_EQ(step.begin, life.events[i].time) << "seed " << seed_;
    ASSERT_EQ(step.end, end) << "seed " << seed_;
    ASSERT_EQ(step.compute, times[std::size_t(Category::kCompute)]) << "seed " << seed_;
    ASSERT_EQ(step.wait + step.communicate, times[std::size_t(Category::kWait)]) << "seed " << seed_;
    ASSERT_EQ(step.delay, times[std::size_t(Category::kDelay)]) << "seed " << seed_;
  }
  EXPECT_GT(record, 100u);
}

TEST_F(Oracle, AgreesWithTheStepsFoundByTime) {
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random_() % 60;
    const Life life = live(random_, count, Nanoseconds{0}, 1e6);
    Timeline timeline = timeline_of(life.events, life.up_to);
    timeline.set_clock_offset("n", us(std::int64_t(random_() % 1000)));
    const Lane& lane = *timeline.lane(0);
    const StepRecords steps = lane.steps();
    for (int i = 0; i < 50; ++i) {
      const auto span = std::uint64_t(life.up_to.count()) + 2'000'000;
      Nanoseconds from = Nanoseconds(std::int64_t(random_() % span)) - ms(1);
      if (i % 2 == 0 && !steps.empty()) from = steps[random_() % steps.size()].begin + Nanoseconds(i % 3 - 1);
      const Nanoseconds to = from + Nanoseconds(std::int64_t(random_() % span));
      std::size_t before = 0;
      std::vector<Nanoseconds> within, found;
      for (std::size_t k = 0; k < steps.size(); ++k) {
        const StepRecord step = steps[k];
        before += step.begin < from;
        const bool goes_on = step.begin > from || k + 1 == steps.size() || steps[k + 1].begin > from;
        if (goes_on && step.begin < to) within.push_back(step.begin);
      }
      ASSERT_EQ(lane.steps_begun_before(from), before) << "seed " << seed_;
      lane.for_each_step(from, to, [&](const StepRecord& step) { found.push_back(step.begin); });
      ASSERT_EQ(found, within) << "seed " << seed_;
    }
  }
}

}  // namespace
}  // namespace idlewave::timeline
