#include "monitor/analysis/domains/activity.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "monitor/analysis/session/efficiency.h"
#include "monitor/analysis/session/step_times.h"
#include "tests/analysis/ring_model.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RingModel;

/// Ten ranks that compute three quarters of each step and wait for one quarter, the second half of them shifted by half
/// a step.
void fill_alternating(timeline::Timeline& timeline, bool shifted) {
  RingModel model;
  model.ranks = 10;
  model.steps = 50;
  model.run();
  for (int step = 0; step < model.steps; ++step) {
    for (Rank rank = 0; rank < model.ranks; ++rank) {
      auto& t = model.times[std::size_t(step)][std::size_t(rank)];
      t.begin = t.delay_end = step * 20e6 + (shifted && rank >= 5 ? 10e6 : 0);
      t.work_end = t.begin + 15e6;
      t.wait_end = t.begin + 20e6;
    }
  }
  model.fill(timeline);
}

TEST(Activity, MeanActiveIsTheIntegralOfComputeOverTheWindow) {
  timeline::Timeline timeline;
  fill_alternating(timeline, false);
  const auto ranks = timeline.domains()[0].ranks;
  EXPECT_DOUBLE_EQ(domains::mean_active(timeline, ranks, {ms(200), ms(400)}), 7.5);
  EXPECT_DOUBLE_EQ(domains::mean_active(timeline, ranks, {ms(200), ms(215)}), 10);
  EXPECT_DOUBLE_EQ(domains::mean_active(timeline, ranks, {ms(215), ms(220)}), 0);
}

TEST(Activity, SaturationPointIsKnownOnlyWithBothBandwidths) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  EXPECT_DOUBLE_EQ(domains::domain_activity(timeline, {ms(0), ms(100)})[0].saturation_point, 5);
}

TEST(Activity, BandwidthIsBytesOverTheTimeTheSamplesCover) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline, ms(900));
  std::vector<wire::Event> samples(4);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].kind = i == 0 ? wire::EventKind::kStart : wire::EventKind::kBandwidth;
    samples[i].time = ms(200.0 * double(i));
    samples[i].value = i == 0 ? 0 : 8'000'000'000;
  }
  timeline.append("n1", {wire::LaneId::Kind::kDomain, 0}, samples);
  const auto activity = domains::domain_activity(timeline, {ms(0), ms(600)})[0];
  EXPECT_NEAR(activity.bandwidth.value(), 40e9, 1);
  EXPECT_NEAR(activity.bandwidth_mean.value(), 40e9, 1);
}

TEST(Activity, AMeterIsInItsUnitOverTheTimeItsSamplesCover) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  wire::Roster roster = model.roster();
  roster.meters = {{0, "package power", "W", "RAPL"}};
  model.fill(timeline, ms(900));
  ASSERT_TRUE(timeline.apply_roster("n1", roster));
  // 30 W, 30 W, not known, 90 W; each for 200 ms.
  std::vector<wire::Event> events(5);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].kind = i == 0 || i == 3 ? wire::EventKind::kStart : wire::EventKind::kBandwidth;
    events[i].time = ms(200.0 * double(i));
    events[i].value = i == 4 ? 18'000'000 : 6'000'000;
  }
  timeline.append_meter("n1", 0, events);
  const auto over = [&](double from, double to) {
    return domains::domain_activity(timeline, {ms(from), ms(to)})[0].meters.at(0);
  };
  EXPECT_EQ(over(0, 800).meter, 0);
  EXPECT_NEAR(over(0, 800).mean.value(), 50, 1e-9);
  EXPECT_EQ(timeline.meter_ever(0).amount, 30'000'000u);
  EXPECT_EQ(timeline.meter_ever(0).covered, ms(600));
  EXPECT_NEAR(over(0, 801).now.value(), 50, 1e-9);
  EXPECT_NEAR(over(100, 300).mean.value(), 30, 1e-9);
  EXPECT_EQ(over(420, 580).mean, std::nullopt);
  EXPECT_TRUE(domains::domain_activity(timeline, {ms(0), ms(800)})[1].meters.empty());
}

TEST(Steps, MeansAreThoseOfTheStepsThatEndedInTheWindow) {
  timeline::Timeline timeline;
  fill_alternating(timeline, false);
  const session::StepTimes times = session::step_times(timeline, {ms(200), ms(400)});
  EXPECT_EQ(times.steps, 100);
  EXPECT_EQ(times.mean, ms(20));
  EXPECT_EQ(times.compute_mean, ms(15));
  EXPECT_EQ(times.wait_mean, ms(5));
  EXPECT_DOUBLE_EQ(times.wait_share(), 0.25);
  EXPECT_DOUBLE_EQ(times.time_share, 1);
}

TEST(Steps, TakeAShareOfTheTimeForWhichRanksAreThere) {
  std::vector events{timeline::start(ms(0)), timeline::enter(ms(0), wire::Phase::kCompute)};
  for (std::uint64_t k = 0; k < 10; ++k)
    events.push_back(timeline::step(ms(300 + 10 * double(k)), k, wire::Phase::kCompute));
  events.push_back(timeline::stop(ms(400)));
  const timeline::Timeline timeline = timeline::timeline_of(events, ms(600));
  EXPECT_DOUBLE_EQ(session::step_times(timeline, {ms(0), ms(1000)}).time_share, 0.25);
  EXPECT_DOUBLE_EQ(session::step_times(timeline, {ms(300), ms(400)}).time_share, 1);
  EXPECT_DOUBLE_EQ(session::step_times(timeline, {ms(0), ms(200)}).time_share, 0);
}

TEST(Steps, AreSaidToBeUnknownWhereTheyAreNotKept) {
  RingModel model;
  model.ranks = 4;
  model.steps = 20000;
  model.run();
  timeline::Timeline small(std::uint64_t{1} << 20), large;
  model.fill(small);
  model.fill(large);
  const Window first{ms(0), ms(1000)};
  ASSERT_EQ(session::step_times(small, first).steps, 0);
  EXPECT_TRUE(session::has_unknown_steps(small, first));
  EXPECT_FALSE(session::has_unknown_steps(large, first));
  EXPECT_FALSE(session::has_unknown_steps(small, {small.now() - ms(1000), small.now()}));
}

TEST(Steps, AreNotUnknownWhereTheyAreCountedFromOne) {
  timeline::Timeline timeline;
  RingModel model;
  model.ranks = 1;
  timeline.apply_roster("n1", model.roster());
  timeline.append("n1", {wire::LaneId::Kind::kRank, 0},
                  std::vector<wire::Event>{{ms(0), 0, wire::EventKind::kStart, wire::Phase::kNone},
                                           {ms(10), 1, wire::EventKind::kStep, wire::Phase::kNone}});
  timeline.advance("n1", ms(20));
  EXPECT_EQ(session::step_times(timeline, {ms(0), ms(20)}).steps, 0);
  EXPECT_FALSE(session::has_unknown_steps(timeline, {ms(0), ms(20)}));
}

TEST(Efficiency, ParallelIsLoadBalanceTimesCommunication) {
  timeline::Timeline timeline;
  fill_alternating(timeline, false);
  const auto result = session::efficiency(timeline, {ms(0), ms(1000)});
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->parallel, 0.75, 1e-6);
  EXPECT_NEAR(result->load_balance.value(), 1, 1e-6);
  EXPECT_NEAR(result->parallel, *result->load_balance * result->communication, 1e-9);
}

/// Ranks that start when they like, compute a share of each step that the test chooses, and stop; then nobody runs for
/// long.
TEST(Efficiency, IsTheShareByConstructionWhateverComesAfterTheStop) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    timeline::Timeline timeline;
    const auto ranks = Rank(1 + random() % 12);
    timeline.apply_roster("n", timeline::roster(ranks));
    double computed = 0, present = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
      Nanoseconds at = ms(rank == 0 ? 0 : double(random() % 500));
      std::vector<wire::Event> events{timeline::start(at)};
      for (std::uint64_t step = 0, steps = 1 + random() % 30; step < steps; ++step) {
        const Nanoseconds work = ms(double(1 + random() % 40)), wait = ms(double(random() % 40));
        events.push_back(timeline::step(at, step));
        events.push_back(timeline::enter(at, wire::Phase::kCompute));
        events.push_back(timeline::enter(at + work, wire::Phase::kWait));
        at += work + wait;
        computed += double(work.count());
        present += double((work + wait).count());
      }
      events.push_back(timeline::stop(at));
      timeline.append("n", timeline::rank_lane(rank), events);
    }
    timeline.advance("n", ms(double(10'000 + random() % 100'000)));
    const Window all{Nanoseconds{0}, timeline.now()};
    const auto result = session::efficiency(timeline, all);
    ASSERT_TRUE(result) << "seed " << seed;
    EXPECT_NEAR(result->parallel, computed / present, 1e-9) << "seed " << seed;
    EXPECT_NEAR(result->parallel, result->load_balance.value() * result->communication, 1e-9) << "seed " << seed;
    EXPECT_LE(result->communication, 1) << "seed " << seed;
    // The line about steps agrees: all of this program is steps that compute or wait.
    EXPECT_NEAR(1 - session::step_times(timeline, all).wait_share(), result->parallel, 1e-6) << "seed " << seed;
  }
}

TEST(Efficiency, OfTwoProgramsLeavesOutTheTimeBetweenThem) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const double once = session::efficiency(timeline, {ms(0), timeline.now()}).value().parallel;
  model.run_again(timeline, ms(60'000));
  EXPECT_NEAR(session::efficiency(timeline, {ms(0), timeline.now()}).value().parallel, once, 1e-6);
}

TEST(Efficiency, IsNotKnownWhereNoRankWas) {
  timeline::Timeline timeline;
  fill_alternating(timeline, false);
  timeline.advance("n1", ms(5000));
  EXPECT_FALSE(session::efficiency(timeline, {ms(2000), ms(4000)}));
  EXPECT_FALSE(session::efficiency(timeline::Timeline(), {ms(0), ms(100)}));
}

TEST(Activity, IsAveragedUntilTheLastRankStopped) {
  timeline::Timeline timeline;
  fill_alternating(timeline, false);
  timeline.advance("n1", ms(5000));
  const auto ranks = timeline.domains()[0].ranks;
  EXPECT_DOUBLE_EQ(domains::mean_active(timeline, ranks, {ms(0), ms(5000)}), 7.5);
  EXPECT_FALSE(domains::domain_activity(timeline, {ms(2000), ms(4000)})[0].is_known);
}

TEST(Steps, MeansOfVeryLongStepsDoNotOverflow) {
  timeline::Timeline timeline;
  timeline.apply_roster("n", timeline::roster(100));
  const Nanoseconds year = std::chrono::hours(24 * 365);
  for (Rank rank = 0; rank < 100; ++rank)
    timeline.append(
        "n", timeline::rank_lane(rank),
        std::vector{timeline::start(ms(0)), timeline::step(ms(0), 0, wire::Phase::kCompute), timeline::stop(8 * year)});
  timeline.advance("n", 8 * year);
  const session::StepTimes times = session::step_times(timeline, {ms(0), timeline.now()});
  EXPECT_EQ(times.compute_mean, 8 * year);
  EXPECT_DOUBLE_EQ(domains::mean_active(timeline, timeline.domains()[0].ranks, {ms(0), timeline.now()}), 10);
}

/// What the domain moved, from the phases that its ranks reported: b(n) over time.
double bytes_moved(const timeline::Timeline& timeline, const timeline::Domain& domain, Window window) {
  std::vector<std::pair<Nanoseconds, int>> changes;
  for (const Rank rank : domain.ranks) {
    bool works = false;
    timeline.lane(rank)->for_each_event(Nanoseconds{0}, window.to, [&](const wire::Event& event) {
      if (!wire::changes_phase(event.kind) || (event.phase == wire::Phase::kCompute) == works) return;
      works = !works;
      changes.emplace_back(std::max(event.time, window.from), works ? 1 : -1);
    });
  }
  std::ranges::sort(changes);
  changes.emplace_back(window.to, 0);
  double bytes = 0;
  int active = 0;
  Nanoseconds since = window.from;
  for (const auto& [at, by] : changes) {
    const double together = std::min(active * domain.info.core_bandwidth, domain.info.saturated_bandwidth);
    bytes += together * std::chrono::duration<double>(at - since).count();
    active += by, since = at;
  }
  return bytes;
}

/// Samples come every 200 ms; a window that cuts them gets what was moved in its part of them.
TEST(Activity, BandwidthOfAShortWindowIsWhatWasMovedInIt) {
  const unsigned seed = any_seed();
  test::RandomQuietScenarios random(seed);
  double worst = 0;
  for (int session = 0; session < 10; ++session) {
    auto scenario = random.next(0.05, 5);
    scenario.program.kernel = support::Kernel::kMemory;
    scenario.communication.time = ms(random.real(5, 20));
    const test::SimulatedSession simulated(scenario);
    for (int i = 0; i < 10; ++i) {
      const Nanoseconds from = ms(random.real(500, 3000));
      const Window window{from, from + ms(random.real(50, 400))};
      for (const domains::DomainActivity& activity : domains::domain_activity(simulated.timeline(), window)) {
        const timeline::Domain& domain = simulated.timeline().domains()[std::size_t(activity.domain)];
        const double truth =
            bytes_moved(simulated.timeline(), domain, window) / (double(window.length().count()) * 1e-9);
        ASSERT_TRUE(activity.bandwidth_mean);
        worst = std::max(worst, std::abs(*activity.bandwidth_mean - truth) / domain.info.saturated_bandwidth);
      }
    }
  }
  fmt::print("farthest from the truth: {:.2f} % of the saturated bandwidth; seed {}\n", worst * 100, seed);
  EXPECT_LT(worst, 0.03) << "seed " << seed;
}

}  // namespace
}  // namespace idlewave::analysis
