#include "monitor/analysis/session/order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/analysis/ring_model.h"
#include "tests/analysis/simulated_session.h"

namespace idlewave::analysis {
namespace {

using std::numbers::pi;
using test::ms;
using test::RingModel;

/// 32 ranks, steps of 10 ms, each rank late by so many milliseconds; in the midst of the run.
template <class Lateness>
session::Order order_with(Lateness lateness) {
  RingModel model;
  model.ranks = 32;
  model.ranks_per_domain = 16;
  model.run();
  for (auto& row : model.times) {
    for (Rank rank = 0; rank < model.ranks; ++rank) {
      auto& t = row[std::size_t(rank)];
      for (double* time : {&t.begin, &t.delay_end, &t.work_end, &t.wait_end}) *time += lateness(rank) * 1e6;
    }
  }
  timeline::Timeline timeline;
  model.fill(timeline);
  return session::order_at(timeline, ms(503.1)).value();
}

TEST(Order, OfLockstepIsOne) {
  const session::Order order = order_with([](Rank) { return 0; });
  EXPECT_EQ(order.ranks, 32);
  EXPECT_NEAR(order.parameter, 1, 1e-9);
  EXPECT_NEAR(order.entropy, 0, 1e-9);
  EXPECT_NEAR(order.gradient, 0, 1e-9);
  EXPECT_NEAR(order.difference, 0, 1e-9);
}

TEST(Order, OfRanksThatAreSplayedOutOverAStepIsZero) {
  const session::Order order = order_with([](Rank rank) { return 10.0 * rank / 32; });
  EXPECT_NEAR(order.parameter, 0, 1e-6);
  EXPECT_NEAR(order.entropy, 1, 1e-3);
  EXPECT_NEAR(order.gradient, 2 * pi / 32, 1e-6);
  EXPECT_NEAR(order.difference, 2 * pi * 31 / 32, 1e-6);
}

/// sin(x) / x with x half of the angle over which they lie evenly, as a sum over 32 ranks.
TEST(Order, OfRanksOverAQuarterOfAStepIsTheSumOfTheirPhases) {
  const session::Order order = order_with([](Rank rank) { return 2.5 * rank / 32; });
  const double angle = pi / 2 / 32;
  EXPECT_NEAR(order.parameter, std::sin(16 * angle) / (32 * std::sin(angle / 2)), 1e-6);
  EXPECT_NEAR(order.difference, pi / 2 * 31 / 32, 1e-6);
}

TEST(Order, OfTwoDomainsHalfAStepApartIsZeroButTheyAreNotSplayed) {
  const session::Order order = order_with([](Rank rank) { return rank < 16 ? 0 : 5; });
  EXPECT_NEAR(order.parameter, 0, 1e-6);
  EXPECT_NEAR(order.entropy, std::log(2) / std::log(16), 1e-9);
  EXPECT_NEAR(order.difference, pi, 1e-6);
  EXPECT_NEAR(order.gradient, pi / 31, 1e-6);
}

/// Whole steps apart: the same phase, though one has done more.
TEST(Order, DoesNotSeeWholeStepsButTheDifferenceDoes) {
  const session::Order order = order_with([](Rank rank) { return rank < 16 ? 0 : 20; });
  EXPECT_NEAR(order.parameter, 1, 1e-9);
  EXPECT_NEAR(order.difference, 4 * pi, 1e-6);
}

/// physics.md: the wave leaves a spread of 66 ms behind, in steps of 10 ms; below saturation nothing.
TEST(Order, OfTheReferenceCaseIsLostForGoodOnlyAboveTheSaturationPoint) {
  for (const Rank each : {5, 10}) {
    support::Scenario scenario;
    scenario.machine = {.ranks = 40, .ranks_per_domain = each, .core_bandwidth = 10e9, .domain_bandwidth = 50e9};
    scenario.program = {.steps = 200, .kernel = support::Kernel::kMemory, .volume = 50'000'000};
    scenario.delays = {{5, 5, ms(1200)}};
    const test::SimulatedSession session(scenario);
    const auto& timeline = session.timeline();
    EXPECT_NEAR(session::order_at(timeline, ms(40)).value().parameter, 1, 0.01) << each;
    const Window end{timeline.now() * 8 / 10, timeline.now() * 19 / 20};
    for (const session::Order& order : session::order_over(timeline, end, 16)) {
      if (each == 5)
        EXPECT_NEAR(order.parameter, 1, 0.01);
      else
        EXPECT_LT(order.parameter, 0.5);
    }
  }
}

/// As one that says where its work ends, and then waits in MPI_Finalize for the rest.
TEST(Order, IsNotDefinedWhereMostRanksHaveDoneTheirLastStep) {
  for (const Rank done : {4, 5, 8}) {
    RingModel model;
    model.ranks = 8;
    model.run();
    timeline::Timeline timeline;
    timeline.apply_roster("n1", model.roster());
    const Nanoseconds end = Nanoseconds(std::llround(model.times.back()[0].wait_end)), stop = end + ms(200);
    for (Rank rank = 0; rank < model.ranks; ++rank) {
      auto events = model.events_of(rank);
      wire::Event leave = events.back();
      leave.kind = wire::EventKind::kLeave;
      events.back().time = stop;
      if (rank < done) events.insert(events.end() - 1, leave);
      timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
    }
    timeline.advance("n1", stop);
    EXPECT_NEAR(session::order_at(timeline, end + ms(5)).value().parameter, 1, 1e-9);
    EXPECT_EQ(session::order_at(timeline, end + ms(15)).has_value(), done == 4) << done;
  }
}

TEST(Order, IsNotDefinedBeforeAStepHasEnded) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  EXPECT_FALSE(session::order_at(timeline, ms(0)));
  model.fill(timeline, ms(5));
  EXPECT_FALSE(session::order_at(timeline, ms(5)));
}

}  // namespace
}  // namespace idlewave::analysis
