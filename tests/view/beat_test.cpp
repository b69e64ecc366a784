// That the map draws no stripes that are not there: the spectrum of a row of a program in step has nothing slower than
// a step, whatever the width of the screen and the length of the step.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>
#include <random>

#include "monitor/view/layout/layout.h"
#include "monitor/view/map/heat_map.h"
#include "monitor/view/map/map_shares.h"
#include "monitor/view/map/rhythm.h"
#include "monitor/view/panels/panels.h"
#include "monitor/view/screen/screen.h"
#include "tests/any_seed.h"
#include "tests/view/looks.h"

namespace idlewave::view {
namespace {

using layout::TimeWindow;
using std::chrono::microseconds, std::chrono::milliseconds, std::chrono::seconds;
using wire::Event;
using wire::EventKind;
using wire::Phase;

constexpr Nanoseconds kLength = seconds(12);

/// How long each step takes, and its last part that is waiting.
struct Steps {
  Nanoseconds length{};
  double wait = 0.4;
  double jitter = 0;    ///< Of the length, as a share of it.
  Nanoseconds apart{};  ///< By how much each rank is later than the one before.
};

void run(timeline::Timeline& timeline, Rank ranks, const Steps& steps, std::mt19937& random) {
  wire::Roster roster{
      .world_size = ranks, .machine = "", .program = "steady", .ranks = {}, .domains = {}, .phases = {}};
  for (Rank rank = 0; rank < ranks; ++rank) roster.ranks.push_back({rank, 1000 + rank, 0});
  roster.domains.push_back({0, "socket", 0, 0, wire::BandwidthSource::kNone, ""});
  ASSERT_TRUE(timeline.apply_roster("n", roster));
  std::uniform_real_distribution<double> factor(1 - steps.jitter, 1 + steps.jitter);
  std::vector<Nanoseconds> lengths;
  for (Nanoseconds sum{}; sum < kLength; sum += lengths.back())
    lengths.emplace_back(std::llround(static_cast<double>(steps.length.count()) * factor(random)));
  for (Rank rank = 0; rank < ranks; ++rank) {
    std::vector<Event> events;
    Nanoseconds at = steps.apart * rank;
    for (std::size_t step = 0; step < lengths.size(); at += lengths[step++]) {
      const auto work = Nanoseconds(std::llround(static_cast<double>(lengths[step].count()) * (1 - steps.wait)));
      events.push_back({.time = at, .value = step, .kind = EventKind::kStep, .phase = Phase::kCompute});
      events.push_back({.time = at, .value = 0, .kind = EventKind::kSwitch, .phase = Phase::kCompute});
      events.push_back({.time = at + work, .value = 0, .kind = EventKind::kSwitch, .phase = Phase::kWait});
    }
    timeline.append("n", {wire::LaneId::Kind::kRank, rank}, events);
  }
  timeline.advance("n", kLength);
}

/// Mean square of what a row holds at frequencies below `most` cycles a column, but for its mean.
double slow_power(const std::vector<double>& row, double most) {
  const auto n = static_cast<double>(row.size());
  double power = 0;
  for (std::size_t k = 1; static_cast<double>(k) < most * n && 2 * k <= row.size(); ++k) {
    std::complex<double> sum;
    for (std::size_t x = 0; x < row.size(); ++x)
      sum += row[x] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * x % row.size()) / n);
    power += 2 * std::norm(sum / n);
  }
  return power;
}

/// Shades of one rank's columns, from the second one to the last that is over with all the steps in it.
std::vector<double> shades(const timeline::Timeline& timeline, const State& state, paint::Size size, Nanoseconds step,
                           TimeWindow& window) {
  const analysis::session::Findings none;
  SessionInfo session;
  session.rhythm = step;
  const Model model{timeline, none, {}, session};
  const layout::Layout layout = layout::lay_out(panels::all_panels(), state, model, size, kColour);
  const paint::Canvas canvas = screen::draw(state, model, size, kColour);
  window = layout.window;
  const auto lines = layout.rows.lines.begin();
  const auto own = std::find_if(lines, layout.rows.lines.end(), [](const layout::MapLine& line) {
    return line.label_of < 0 && line.top == line.bottom;
  });
  const int y = layout.map.y + static_cast<int>(own - lines);
  const auto end = std::min<std::int64_t>(window.x_of(kLength - 3 * std::max(step, window.column)), window.columns);
  std::vector<double> row;
  for (int x = 1; x < end; ++x) {
    const paint::Ink ink = canvas.at(layout.map.x + x, y).bg;
    row.push_back(ink == paint::Ink::kCompute ? 0
                                              : static_cast<double>(ink) - static_cast<double>(paint::Ink::kWait0) + 1);
  }
  // Whole periods alone: what is cut off would leak into all frequencies.
  const auto period = static_cast<std::size_t>(std::max<std::int64_t>(std::llround(step / (1.0 * window.column)), 1));
  row.resize(row.size() / period * period);
  return row;
}

TEST(Beat, IsSeenByTheMeasureInColumnsThatAreNoWholeSteps) {
  timeline::Timeline timeline;
  std::mt19937 random(1);
  run(timeline, 1, {.length = milliseconds(60)}, random);
  constexpr Nanoseconds kColumn{1 << 25};  // 33.6 ms
  const RankRange rank{0, 1};
  std::vector<timeline::Shares> shares(300);
  timeline.picture({&rank, 1}, seconds(1), seconds(1) + 300 * kColumn, 300, shares);
  std::vector<double> row;
  for (const auto& each : shares) row.push_back(8 * each[timeline::Category::kWait]);
  EXPECT_GT(slow_power(row, 0.9 * (kColumn / (1.0 * Nanoseconds(milliseconds(60))))), 0.5);
}

TEST(Beat, IsOnNoScreenAndAtNoZoomOfAProgramInStep) {
  const unsigned first = any_seed();
  RecordProperty("seed", static_cast<int>(first));
  for (unsigned round = 0; round < 12; ++round) {
    SCOPED_TRACE(::testing::Message() << "IDLEWAVE_TEST_SEED=" << first << ", round " << round);
    std::mt19937 random(first + round);
    const Steps steps{.length = microseconds(std::uniform_int_distribution(2000, 150'000)(random)),
                      .wait = std::uniform_real_distribution(0.2, 0.7)(random),
                      .apart = microseconds(std::uniform_int_distribution(0, 50'000)(random))};
    timeline::Timeline timeline;
    run(timeline, 4, steps, random);
    const Nanoseconds step = map::rhythm_in(timeline, {seconds(6), seconds(11)});
    ASSERT_EQ(step, steps.length);
    const paint::Size size{std::uniform_int_distribution(40, 320)(random), 40};
    for (int zoom = -2; zoom <= 3; ++zoom) {
      State state;
      state.zoom = layout::fitting_zoom(size.columns * 2 / 3, {.step = step}) - zoom;
      TimeWindow window;
      const std::vector<double> row = shades(timeline, state, size, step, window);
      const double steps_a_column = static_cast<double>(window.column.count()) / static_cast<double>(step.count());
      EXPECT_LT(slow_power(row, 0.9 * steps_a_column), 0.01)
          << step.count() << " ns, columns of " << window.column.count() << " ns, " << size.columns << " of them";
    }
  }
}

TEST(Beat, IsNotThereEitherWhereTheRhythmIsNotKnown) {
  const unsigned first = any_seed();
  for (unsigned round = 0; round < 20; ++round) {
    SCOPED_TRACE(::testing::Message() << "IDLEWAVE_TEST_SEED=" << first << ", round " << round);
    std::mt19937 random(first + round);
    const Steps steps{.length = microseconds(std::uniform_int_distribution(20'000, 100'000)(random)), .jitter = 0.1};
    timeline::Timeline timeline;
    run(timeline, 1, steps, random);
    const auto width = std::uniform_real_distribution(0.5, 8.0)(random) * static_cast<double>(steps.length.count());
    const TimeWindow window{.column = Nanoseconds(std::llround(width)), .first = 1};
    const int columns = static_cast<int>(seconds(10) / window.column);
    const RankRange rank{0, 1};
    std::vector<timeline::Shares> shares(static_cast<std::size_t>(columns));
    map::shares_over_time(timeline, {&rank, 1}, window, columns, kLength, shares);
    for (const auto& each : shares) ASSERT_NEAR(each[timeline::Category::kWait], steps.wait, 0.01);
  }
}

TEST(Beat, IsFaintInARowOfMoreRanksThanCanBeAskedForTheirSteps) {
  constexpr Rank kRanks = 600;
  timeline::Timeline timeline;
  std::mt19937 random(1);
  run(timeline, kRanks, {.length = microseconds(37'300)}, random);
  const Nanoseconds step = map::rhythm_in(timeline, {seconds(6), seconds(11)});
  for (const int doublings : {0, 1, 2}) {
    const TimeWindow window{.column = step * (1 << doublings), .first = 1};
    const int columns = static_cast<int>(seconds(11) / window.column);
    const RankRange all{0, kRanks};
    std::vector<timeline::Shares> shares(static_cast<std::size_t>(columns));
    map::shares_over_time(timeline, {&all, 1}, window, columns, kLength, shares);
    // Half a shade: their buckets, of a quarter of a column, beat with the steps a little.
    for (const auto& each : shares) ASSERT_NEAR(each[timeline::Category::kWait], 0.4, 0.06) << doublings;
  }
}

TEST(MapShares, TellALongStepAsItWentOn) {
  timeline::Timeline timeline;
  std::mt19937 random(1);
  run(timeline, 1, {.length = milliseconds(400), .wait = 0.5}, random);
  const TimeWindow window{.column = milliseconds(100)};
  const RankRange rank{0, 1};
  std::vector<timeline::Shares> shares(4);
  map::shares_over_time(timeline, {&rank, 1}, window, 4, kLength, shares);
  for (int x = 0; x < 4; ++x) EXPECT_NEAR(shares[static_cast<std::size_t>(x)][timeline::Category::kWait], x / 2, 1e-3);
}

TEST(MapShares, LoseNoTimeToWholeSteps) {
  const unsigned first = any_seed();
  SCOPED_TRACE(::testing::Message() << "IDLEWAVE_TEST_SEED=" << first);
  std::mt19937 random(first);
  timeline::Timeline timeline;
  run(timeline, 1, {.length = milliseconds(23), .jitter = 0.5}, random);
  const TimeWindow window{.column = milliseconds(31), .first = 3};
  const RankRange rank{0, 1};
  std::vector<timeline::Shares> shares(300);
  map::shares_over_time(timeline, {&rank, 1}, window, 300, kLength, shares);
  double sum = 0;
  for (const auto& each : shares) sum += each[timeline::Category::kWait] * 0.031;
  const auto exact = timeline.lane(0)->time_in(timeline::Category::kWait, window.from(), window.begin_of(300));
  EXPECT_NEAR(sum, std::chrono::duration<double>(exact).count(), 0.05);  // A step at either end may be cut.
}

TEST(Rhythm, IsTheMeanStepAndNoneWhereStepsAreNotAlike) {
  std::mt19937 random(any_seed());
  timeline::Timeline steady, ragged;
  run(steady, 3, {.length = milliseconds(50), .jitter = 0.05}, random);
  run(ragged, 3, {.length = milliseconds(50), .jitter = 0.95}, random);
  EXPECT_NEAR(static_cast<double>(map::rhythm_in(steady, {seconds(2), seconds(10)}).count()), 50e6, 1e6);
  EXPECT_EQ(map::rhythm_in(ragged, {seconds(2), seconds(10)}), Nanoseconds{0});
  EXPECT_EQ(map::rhythm_in(steady, {seconds(2), seconds(2) + milliseconds(60)}), Nanoseconds{0});
}

TEST(Rhythm, ChangesOnlyOnceAnotherOneHasSettled) {
  map::Rhythm rhythm;
  rhythm.observe(milliseconds(60));
  EXPECT_EQ(rhythm.step(), Nanoseconds{0});
  rhythm.observe(milliseconds(60));
  EXPECT_EQ(rhythm.step(), milliseconds(60));
  for (const int ms : {58, 55, 52}) rhythm.observe(milliseconds(ms));
  rhythm.observe(Nanoseconds{0});
  EXPECT_EQ(rhythm.step(), milliseconds(60));
  rhythm.observe(milliseconds(52));
  EXPECT_EQ(rhythm.step(), milliseconds(52));
}

TEST(TimeWindow, HasColumnsOfWholeStepsOrWholeFractionsOfOne) {
  std::mt19937 random(any_seed());
  for (int round = 0; round < 1000; ++round) {
    const Nanoseconds step(std::uniform_int_distribution<std::int64_t>(100'000, 10'000'000'000)(random));
    const Nanoseconds column = layout::column_width(std::uniform_int_distribution(8, 26)(random), step);
    const double steps = static_cast<double>(column.count()) / static_cast<double>(step.count());
    const double whole = steps >= 1 ? steps : 1 / steps;
    EXPECT_NEAR(whole, std::round(whole), 1e-3 * whole) << step.count();
  }
}

}  // namespace
}  // namespace idlewave::view
