#include "workloads/theory/overlap.h"
#include "tests/any_seed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "workloads/sim/simulator.h"

namespace idlewave::theory {
namespace {

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(engine); }
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(engine); }

  std::mt19937 engine;
};

// widener-2016, Table 1: AMG2006, CTH, HPCCG, LAMMPS, LULESH, miniFE on 1024 nodes.
struct Application {
  double beta;
  double maximum_speedup;
};
constexpr Application kTable1[] = {{1.59, 1.63},  {1.25, 1.80}, {95.15, 1.01},
                                   {37.46, 1.03}, {4.37, 1.23}, {10.31, 1.10}};

TEST(OverlapBound, IsTheMaximumSpeedupOfTable1) {
  for (const Application& each : kTable1)
    EXPECT_NEAR(overlap_bound(each.beta), each.maximum_speedup, 0.005) << each.beta;
}

TEST(OverlapBound, IsThatOfEquation5WhereCommunicationIsMore) {
  EXPECT_DOUBLE_EQ(overlap_bound(0.25), 1.25);
  EXPECT_DOUBLE_EQ(overlap_bound(4), 1.25);
}

// Section 4.1: "The maximum value of the upper bound on speedup is two. It reaches this value when the
// computation-to-communication ratio is exactly equal to the factor by which noise propagation inflates the
// application's communication time".
TEST(OverlapBound, IsTwoWhereNoiseInflatesCommunicationToTheLengthOfTheWork) {
  EXPECT_DOUBLE_EQ(overlap_bound(1), 2);
  EXPECT_DOUBLE_EQ(overlap_bound(7.5, 7.5), 2);
  EXPECT_LT(overlap_bound(7.5, 7.4), 2);
  EXPECT_LT(overlap_bound(7.5, 7.6), 2);
}

TEST(OverlapBound, HoldsForEveryTraceOfEquations1And2) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(fmt::format("IDLEWAVE_TEST_SEED={}", seed));
  Random random(seed);
  double closest = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<Stretch> stretches(std::size_t(random.whole(1, 30)));
    const double work = std::exp(random.real(-3, 3)), spread = random.real(0, 1),
                 noise = random.whole(0, 1) * random.real(0, 3);
    double communication = 0, with_noise = 0, last = work, computation = last;
    for (Stretch& each : stretches) {
      each = {.communication = 1 + random.real(-spread, 0),
              .noise = noise * random.real(0, 1),
              .work = work * (1 + random.real(-spread, 0)),
              .collective = random.whole(0, 9) > 0};
      communication += each.communication, with_noise += each.communication + each.noise, computation += each.work;
    }
    const double speedup = blocking_time(stretches, last) / overlapped_time(stretches, last);
    const double bound = overlap_bound(computation / communication, with_noise / communication);
    EXPECT_GE(speedup, 1);
    EXPECT_LE(speedup, bound * (1 + 1e-12));
    closest = std::max(closest, speedup / bound);
  }
  EXPECT_GT(closest, 0.98) << "the bound is reached where all stretches are alike";
}

/// Makespan, seconds.
double simulated(const support::Scenario& scenario) {
  const auto run = sim::run(scenario, {});
  EXPECT_TRUE(run) << run.error().message;
  return run ? run->makespan : 0;
}

// A program that does nothing but work and call an allreduce is sped up as far as eq. 4 lets it be, when its collectives
// cost nothing. Dissemination is ceil(log2 P) messages in a row, each o + L + (s - 1) G + o.
TEST(OverlapBound, IsReachedByTheSimulatorOnASilentNetwork) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(fmt::format("IDLEWAVE_TEST_SEED={}", seed));
  Random random(seed);
  for (int i = 0; i < 50; ++i) {
    support::Scenario scenario;
    scenario.machine = {.ranks = random.whole(2, 600), .ranks_per_domain = 16};
    const auto micro = [&](int least, int most) { return wire::Nanoseconds(1000 * random.whole(least, most)); };
    const support::LogGops network{.latency = micro(1, 5), .overhead = micro(1, 3), .rendezvous_size = 1000};
    scenario.communication.loggops = network;
    scenario.communication.message_size = 1;
    scenario.communication.collective = support::CollectiveOfStep{.kind = support::CollectiveKind::kAllreduce};
    const double rounds = std::ceil(std::log2(scenario.machine.ranks));
    const double communication = rounds * double((2 * network.overhead + network.latency).count()) * 1e-9;
    const double beta = std::exp(random.real(0, 4));
    scenario.program = {.steps = 50, .kernel = support::Kernel::kCore};
    scenario.program.time = wire::Nanoseconds(std::llround(beta * communication * 1e9));
    const double blocking = simulated(scenario);
    scenario.communication.collective->mode = support::CollectiveMode::kIdeal;
    EXPECT_NEAR(blocking / simulated(scenario), overlap_bound(beta), 1e-3)
        << fmt::format("{} ranks, beta {}", scenario.machine.ranks, beta);
  }
}

}  // namespace
}  // namespace idlewave::theory
