// Closed forms of idle waves against the figures of the papers, and against a slow, exact simulation of random programs.
#include "monitor/theory/idle_wave.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "monitor/theory/contention.h"
#include "tests/any_seed.h"
#include "tests/workloads/exact_run.h"

namespace idlewave::theory {
namespace {

using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using tests::ExactProgram;
using tests::ExactRun;

Exchange exchange_of(const support::Communication& communication) {
  return {.distances = communication.distances,
          .rendezvous = communication.protocol == Protocol::kRendezvous,
          .split = communication.wait == WaitFlavour::kSplit};
}

RanksPerStep eager(std::vector<int> distances, bool split) {
  return ranks_per_step({.distances = distances, .rendezvous = false, .split = split});
}
RanksPerStep rendezvous(std::vector<int> distances, bool split) {
  return ranks_per_step({.distances = distances, .rendezvous = true, .split = split});
}

TEST(RanksPerStep, AreThoseOfTheTableOfPatternsAndProtocols) {
  EXPECT_EQ(eager({1}, false), (RanksPerStep{.up = 1, .down = 0}));
  EXPECT_EQ(rendezvous({1}, false), (RanksPerStep{.up = 1, .down = 1}));
  EXPECT_EQ(eager({-1, 1}, false), (RanksPerStep{.up = 1, .down = 1}));
  EXPECT_EQ(rendezvous({-1, 1}, false), (RanksPerStep{.up = 1, .down = 1}));
  EXPECT_EQ(eager({-1, 1}, true), (RanksPerStep{.up = 1, .down = 1}));
  EXPECT_EQ(rendezvous({-1, 1}, true), (RanksPerStep{.up = 2, .down = 2}));
  EXPECT_EQ(eager({-2, -1, 1, 2}, false), (RanksPerStep{.up = 2, .down = 2}));
  EXPECT_EQ(rendezvous({-2, -1, 1, 2}, false), (RanksPerStep{.up = 2, .down = 2}));
  EXPECT_EQ(rendezvous({1, -1, -2}, true), (RanksPerStep{.up = 4, .down = 4}));
}

// afzal-2020, section 4.3: "The idle wave in negative rank direction is three times faster than the one in positive".
TEST(RanksPerStep, AreThreeToOneInFigure5c) { EXPECT_EQ(eager({1, -1, -2}, true), (RanksPerStep{.up = 1, .down = 3})); }

// Fig. 1a: 72 ranks, 10 ms a step, ring, eager: the fronts have met after half a round trip.
TEST(WaveSpeed, IsSigmaTimesDistancePerStep) {
  EXPECT_DOUBLE_EQ(wave_speed(1, 1, 0.010, 0), 100);
  EXPECT_DOUBLE_EQ(wave_speed(2, 2, 0.010, 0.010), 200);
  EXPECT_DOUBLE_EQ(wave_speed(1, 1, 0, 0), 0);
}

TEST(MeetingDistance, DividesTheRingAsTheSpeedsOfTheFronts) {
  EXPECT_EQ(meeting_distance(40, 1, 1), 20);
  EXPECT_EQ(meeting_distance(40, 1, 3), 10);
  EXPECT_EQ(meeting_distance(40, 3, 1), 30);
  EXPECT_EQ(meeting_distance(40, 1, 0), 39);
  EXPECT_EQ(meeting_distance(40, 0, 1), 0);
  EXPECT_EQ(meeting_distance(2, 1, 1), 1);
  EXPECT_EQ(meeting_distance(1, 1, 1), 0);
}

TEST(WaveReach, IsDelayOverMeanForExponentialNoiseInOneDirection) {
  const double mu = 0.5e-3, work = 10e-3;
  EXPECT_NEAR(wave_reach(0.1, wave_speed(1, 1, work + 2 * mu, 0), wave_speed(1, 1, work + mu, 0)), 0.1 / mu, 1e-6);
}

TEST(WaveReach, HasNoEndOnASilentCoreBoundSystemAndNoBeginWhereNobodyWaits) {
  EXPECT_TRUE(std::isinf(wave_reach(0.1, 100, 100)));
  EXPECT_TRUE(std::isinf(wave_reach(0.1, 100, 90)));
  EXPECT_EQ(wave_reach(0.1, 0, 0), 0);
}

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(engine); }
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(engine); }

  std::mt19937 engine;
};

std::string described(const ExactProgram& program) {
  const Exchange exchange = exchange_of(program.communication);
  return fmt::format("distances {}, {}, {}, transfer {} ns", program.communication.distances,
                     exchange.rendezvous ? "rendezvous" : "eager", exchange.split ? "split" : "one wait",
                     program.communication.time.count());
}

/// How much later each rank began each step because of the delay. [rank][step], seconds
std::vector<std::vector<double>> lateness(const ExactProgram& program) {
  ExactProgram without = program;
  without.delays.clear();
  const ExactRun hit = simulate(program), quiet = simulate(without);
  auto late = hit.step_start;
  for (std::size_t rank = 0; rank < late.size(); ++rank)
    for (std::size_t step = 0; step < late[rank].size(); ++step) late[rank][step] -= quiet.step_start[rank][step];
  return late;
}

wire::Nanoseconds nanoseconds(double seconds) { return wire::Nanoseconds(std::llround(seconds * 1e9)); }

TEST(RanksPerStep, AreThoseOfTheSimulatorForAnyPattern) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(fmt::format("IDLEWAVE_TEST_SEED={}", seed));
  Random random(seed);
  constexpr int kHit = 2, kSteps = 5, kOrigin = 60;
  for (int i = 0; i < 100; ++i) {
    ExactProgram program{.ranks = 2 * kOrigin + 1, .ranks_per_domain = 1, .time = 0.01, .steps = kHit + kSteps};
    std::vector<int> all = {-4, -3, -2, -1, 1, 2, 3, 4};
    std::ranges::shuffle(all, random.engine);
    program.communication = {.topology = Topology::kChain,
                             .distances = {all.begin(), all.begin() + random.whole(1, 4)},
                             .protocol = random.whole(0, 1) ? Protocol::kEager : Protocol::kRendezvous,
                             .wait = random.whole(0, 1) ? WaitFlavour::kAll : WaitFlavour::kSplit,
                             .time = nanoseconds(random.whole(0, 1) * random.real(0, 0.003))};
    program.delays = {{kOrigin, kHit, std::chrono::seconds(100)}};
    const auto late = lateness(program);
    int up = 0, down = 0;
    for (int rank = 0; rank < program.ranks; ++rank) {
      if (late[std::size_t(rank)][kHit + 2] < 1) continue;  // Once the second step after the hit has begun.
      up = std::max(up, rank - kOrigin), down = std::max(down, kOrigin - rank);
    }
    const RanksPerStep speed = ranks_per_step(exchange_of(program.communication));
    EXPECT_EQ((RanksPerStep{.up = up, .down = down}), (RanksPerStep{.up = 2 * speed.up, .down = 2 * speed.down}))
        << described(program);
  }
}

/// Ranks that the wave of the first delay reaches upwards, and downwards: whom it makes later by a tenth of a step.
RanksPerStep reach_of(const ExactProgram& program, double step) {
  const auto late = lateness(program);
  const int origin = program.delays.front().rank;
  const auto count = [&](int sign) {
    int reached = 0;
    for (int rank = origin + sign; rank >= 0 && rank < program.ranks; rank += sign, ++reached)
      if (*std::ranges::max_element(late[std::size_t(rank)]) < 0.1 * step) break;
    return reached;
  };
  return {.up = count(+1), .down = count(-1)};
}

/// A core-bound program with one wait a step on a ring, eager or by rendezvous: a recursion over its steps.
struct NoisyRing {
  int ranks = 0;
  std::vector<int> waits_for;  ///< Offsets.
  double work = 0, transfer = 0, mean_noise = 0;

  struct Course {
    std::vector<std::vector<double>> begin, post;  ///< [step][rank]
  };
  /// `delay` before step `hit` of rank 0. The same seed gives the same noise.
  Course run(unsigned seed, int steps, int hit, double delay) const {
    std::mt19937 random(seed);
    std::exponential_distribution<> noise(1 / mean_noise);
    Course course;
    course.begin.assign(1, std::vector<double>(std::size_t(ranks), 0.0));
    for (int step = 0; step < steps; ++step) {
      std::vector<double> post = course.begin.back();
      post[0] += step == hit ? delay : 0;
      for (double& each : post) each += work + noise(random);
      std::vector<double> next = post;
      for (int rank = 0; rank < ranks; ++rank)
        for (const int offset : waits_for)
          next[std::size_t(rank)] = std::max(next[std::size_t(rank)], at(post, rank + offset) + transfer);
      course.post.push_back(std::move(post));
      course.begin.push_back(std::move(next));
    }
    return course;
  }
  double at(const std::vector<double>& values, int rank) const { return values[std::size_t((rank + ranks) % ranks)]; }
};

/// Mean idle time that a front loses in a step, and mean length of a step without it. Seconds
struct Loss {
  double idle = 0;
  double step = 0;
};
Loss loss_of(const NoisyRing& ring, int ranks_per_step, unsigned seed) {
  constexpr int kHit = 60, kFirst = 10, kLast = 70, kRuns = 24;
  constexpr double kLongDelay = 100;
  Loss loss;
  for (unsigned i = 0; i < kRuns; ++i) {
    const auto quiet = ring.run(seed + i, kHit + kLast + 1, -1, 0),
               hit = ring.run(seed + i, kHit + kLast + 1, kHit, kLongDelay);
    const auto idle = [&](int steps) {
      const auto step = std::size_t(kHit + steps);
      const int rank = ranks_per_step * (steps + 1);
      return ring.at(hit.begin[step + 1], rank) - ring.at(quiet.begin[step + 1], rank);
    };
    loss.idle += (idle(kFirst) - idle(kLast)) / (kLast - kFirst) / kRuns;
    for (int rank = 0; rank < ring.ranks; ++rank)
      loss.step +=
          (ring.at(quiet.begin[kHit + kLast], rank) - ring.at(quiet.begin[kHit], rank)) / kLast / ring.ranks / kRuns;
  }
  return loss;
}

// afzal-2020, section 3.2: noise makes idle waves decay. By what eq. 2 says of both edges, whatever the pattern.
TEST(WaveReach, IsThatOfTheSimulationUnderNoise) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(fmt::format("IDLEWAVE_TEST_SEED={}", seed));
  Random random(seed);
  static const std::vector<std::vector<int>> kWaitsFor = {{-1}, {-1, 1}, {-2, -1, 1, 2}, {-1, 1, 2}, {-3, 3}};
  for (const auto& waits_for : kWaitsFor) {
    NoisyRing ring{.ranks = 512, .waits_for = waits_for, .work = random.real(0.005, 0.02)};
    ring.mean_noise = ring.work * random.real(0.01, 0.1);
    ring.transfer = ring.work * random.whole(0, 1) * random.real(0, 0.3);
    const int up = -*std::ranges::min_element(waits_for);
    const Loss loss = loss_of(ring, up, seed);
    const double edge = ring.work + ring.mean_noise;
    const double reach = wave_reach(1, wave_speed(1, up, loss.step, 0), wave_speed(1, up, edge, ring.transfer));
    EXPECT_NEAR(1 / reach, loss.idle / up, 0.15 / reach + 0.1 * ring.mean_noise / up) << fmt::format(
        "waits for {}, work {} s, noise {} s, transfer {} s", waits_for, ring.work, ring.mean_noise, ring.transfer);
    if (waits_for.size() == 1 && ring.transfer == 0) {
      EXPECT_NEAR(1 / reach, ring.mean_noise, 0.15 * ring.mean_noise);
    }
  }
}

// Where little of the idle time is left, ranks of a domain are still out of step: a wave comes somewhat farther.
TEST(WaveReach, IsThatOfTheSimulatorUnderContention) {
  constexpr double kLess = 3, kMore = 20;  // ranks
  const unsigned seed = any_seed();
  SCOPED_TRACE(fmt::format("IDLEWAVE_TEST_SEED={}", seed));
  Random random(seed);
  for (int i = 0; i < 6; ++i) {
    const int each = random.whole(4, 16);
    const double core = 10e9, full = core * random.real(2, each - 1), volume = 50e6;
    ExactProgram program{.ranks = 121, .ranks_per_domain = each, .volume = volume, .steps = 80};
    program.bandwidth = [&](int active) { return domain_bandwidth(active, core, full); };
    program.communication = {.topology = Topology::kChain, .distances = {-1, 1}, .protocol = Protocol::kEager};
    const double leading = wave_speed(1, 1, phase_time(each, volume, core, full), 0);
    const double trailing = wave_speed(1, 1, phase_time(1, volume, core, full), 0);
    const double delay = random.real(20, 40) * (1 / leading - 1 / trailing);
    program.delays = {{program.ranks / 2, 10, nanoseconds(delay)}};
    const double predicted = wave_reach(delay, leading, trailing);
    const RanksPerStep reach = reach_of(program, 1 / leading);
    for (const int measured : {reach.up, reach.down}) {
      EXPECT_GT(measured, predicted - kLess)
          << fmt::format("{} ranks a domain, N_sc {}, {} s", each, full / core, delay);
      EXPECT_LT(measured, predicted + kMore)
          << fmt::format("{} ranks a domain, N_sc {}, {} s", each, full / core, delay);
    }
  }
}

}  // namespace
}  // namespace idlewave::theory
