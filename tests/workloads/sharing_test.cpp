// Members that tell late when they came, against a service clock that was told at the time.

#include "workloads/kernels/sharing.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/any_seed.h"

namespace idlewave::kernels {
namespace {

const BandwidthCurve kInterface = BandwidthCurve::saturating(10e9, 50e9);
constexpr double kMostLate = 2e5;

struct Visit {
  std::size_t member;
  Arrival arrival;
  double told;
};

/// Each member comes once and tells within kMostLate; some come at the same time.
std::vector<Visit> random_visits(std::mt19937& random) {
  std::uniform_real_distribution<double> bytes{1e4, 5e6};
  std::uniform_real_distribution<double> late{0, kMostLate};
  std::vector<Visit> visits(1 + random() % 12);
  for (std::size_t i = 0; i < visits.size(); ++i) {
    const double time = 1 + 5e4 * double(random() % 20);
    visits[i] = {i, {time, bytes(random)}, time + late(random)};
  }
  return visits;
}

/// When each is done, by a clock that hears of every arrival at its time.
std::vector<double> told_at_the_time(std::vector<Visit> visits) {
  std::ranges::sort(visits, {}, [](const Visit& visit) { return visit.arrival.time; });
  ServiceClock clock;
  std::vector<double> targets(visits.size(), ServiceClock::kIdle);
  std::vector<double> done(visits.size());
  for (std::size_t i = 0; i < visits.size(); ++i) {
    clock.advance(targets, kInterface, visits[i].arrival.time);
    targets[visits[i].member] = clock.service() + visits[i].arrival.bytes;
    for (std::size_t j = 0; j <= i; ++j) {
      const std::size_t member = visits[j].member;
      if (!clock.has_reached(targets[member])) done[member] = clock.finish_of(targets[member], targets, kInterface);
    }
  }
  return done;
}

/// The same by a sharing that is kept behind the present, seen after all have told; who is done by the time to which it
/// was `settled` then has that time.
std::vector<double> told_late(std::vector<Visit> visits, double& settled) {
  std::ranges::sort(visits, {}, &Visit::told);
  ServiceClock clock;
  std::vector<double> targets(visits.size(), ServiceClock::kIdle);
  std::vector<Arrival> arrivals(visits.size());
  for (const Visit& visit : visits) {
    Sharing sharing{clock, targets, arrivals};
    sharing.advance(kInterface, visit.told - kMostLate);
    clock = sharing.clock();
    arrivals[visit.member] = visit.arrival;
  }
  settled = clock.time();
  std::vector<double> done;
  for (std::size_t member = 0; member < visits.size(); ++member) {
    std::vector<double> room = targets;
    done.push_back(Sharing{clock, room, arrivals}.finish(member, kInterface));
  }
  return done;
}

TEST(Sharing, DoesNotDependOnWhenMembersTellThatTheyCame) {
  std::mt19937 random{any_seed()};
  int compared = 0;
  for (int round = 0; round < 500; ++round) {
    const std::vector<Visit> visits = random_visits(random);
    double settled = 0;
    const std::vector<double> late = told_late(visits, settled);
    const std::vector<double> at_the_time = told_at_the_time(visits);
    for (std::size_t member = 0; member < visits.size(); ++member) {
      if (at_the_time[member] <= settled) continue;
      EXPECT_NEAR(late[member], at_the_time[member], 1e-3) << "member " << member << " of " << visits.size();
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST(Sharing, CountsTheBytesOfThoseWhoToldLate) {
  std::mt19937 random{any_seed()};
  for (int round = 0; round < 100; ++round) {
    const std::vector<Visit> visits = random_visits(random);
    std::vector<Arrival> arrivals(visits.size());
    double all = 0;
    for (const Visit& visit : visits) {
      arrivals[visit.member] = visit.arrival;
      all += visit.arrival.bytes;
    }
    std::vector<double> targets(visits.size(), ServiceClock::kIdle);
    Sharing sharing{ServiceClock{}, targets, arrivals};
    sharing.advance(kInterface, 1e9);
    EXPECT_NEAR(sharing.clock().bytes_moved(), all, 1e-3);
  }
}

/// It left at the end that was foreseen; one that tells afterwards to have come before makes that end later.
TEST(Sharing, AddsWhatAMemberHadLeftToWhatItComesWith) {
  std::vector<Arrival> arrivals{{1, 1e6}, {0, 0}};
  std::vector<double> targets(2, ServiceClock::kIdle);
  Sharing first{ServiceClock{}, targets, arrivals};
  first.advance(kInterface, 5e4);
  arrivals[0] = {1e5, 1e6};
  Sharing again{first.clock(), targets, arrivals};
  again.advance(kInterface, 1e9);
  EXPECT_NEAR(again.clock().bytes_moved(), 2e6, 1e-3);
}

TEST(Sharing, IsNotDoneWithWhoIsYetToCome) {
  const std::vector<Arrival> arrivals{{1e5, 1e6}};
  std::vector<double> targets(1, ServiceClock::kIdle);
  Sharing sharing{ServiceClock{}, targets, arrivals};
  EXPECT_FALSE(sharing.is_done(0));
  EXPECT_DOUBLE_EQ(sharing.finish(0, kInterface), 2e5);
  sharing.advance(kInterface, 2e5 + 1);
  EXPECT_TRUE(sharing.is_done(0));
}

}  // namespace
}  // namespace idlewave::kernels
