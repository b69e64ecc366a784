// What noise does to a core-bound program with eager messages in one direction: each rank waits for its own last step
// and for that of the rank below. A few lines of max and plus, in which the noise is the only thing to be wrong.

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "workloads/sim/noise/make_noise.h"

namespace idlewave::sim::noise {
namespace {

using namespace std::chrono_literals;
using wire::Rank;
using wire::Step;

constexpr Rank kRanks = 512;
constexpr Step kHit = 100;  // step of the delay, on rank 0
constexpr double kWork = 10e-3;
constexpr double kMean = 1e-3;

struct Front {
  double bulk = 0;           ///< Mean time of a step without the delay.
  std::vector<double> idle;  ///< [distance]: how much longer the wave makes that rank wait when it gets there.
};

/// One step of all ranks. `ready`: when each began to wait last. Returns when each began to wait this time.
std::vector<double> step_of(const PhaseNoise& noise, Step step, const std::vector<double>& ready, double delay) {
  std::vector<double> next(ready.size());
  for (Rank rank = 0; rank < kRanks; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const double begin = std::max(ready[i], ready[(i + kRanks - 1) % kRanks]) + (rank == 0 && step == kHit ? delay : 0);
    next[i] = begin + kWork + noise.after(rank, step, begin, begin + kWork);
  }
  return next;
}

Front run(std::uint64_t seed, double delay, Rank distances) {
  const auto noise = make_noise({support::ExponentialNoise{1ms}, seed});
  std::vector<double> quiet(kRanks, 0.0), hit(kRanks, 0.0);
  Front front;
  const Step steps = kHit + distances;
  for (Step step = 0; step < steps; ++step) {
    quiet = step_of(**noise, step, quiet, 0);
    hit = step_of(**noise, step, hit, delay);
    const auto reached = static_cast<std::size_t>(step - kHit);
    if (step < kHit) continue;
    const double now = std::max(hit[reached], hit[reached + 1]) - hit[reached + 1];
    const double before = std::max(quiet[reached], quiet[reached + 1]) - quiet[reached + 1];
    front.idle.push_back(now - before);
  }
  for (const double end : quiet) front.bulk += end / kRanks / static_cast<double>(steps);
  return front;
}

Front mean_front(double delay, Rank distances) {
  constexpr int kSeeds = 40;
  Front mean;
  mean.idle.resize(static_cast<std::size_t>(distances));
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Front front = run(seed, delay, distances);
    mean.bulk += front.bulk / kSeeds;
    for (std::size_t i = 0; i < front.idle.size(); ++i) mean.idle[i] += front.idle[i] / kSeeds;
  }
  return mean;
}

TEST(NoiseOnAWave, CostsTheBulkTwiceItsMeanAStep) { EXPECT_NEAR((mean_front(0, 300).bulk - kWork) / kMean, 2, 0.1); }

TEST(NoiseOnAWave, ShortensTheIdlePeriodByItsMeanForEachRank) {
  const Front front = mean_front(300 * kMean, 201);
  EXPECT_NEAR((front.idle[50] - front.idle[200]) / 150 / kMean, 1, 0.05);
}

TEST(NoiseOnAWave, LetsADelayReachAsManyRanksAsItIsLongerThanTheMean) {
  const Front front = mean_front(150 * kMean, 300);
  EXPECT_NEAR(front.idle[0] / kMean, 150, 3);
  const auto gone = std::ranges::find_if(front.idle, [](double idle) { return idle < 3 * kMean; });
  EXPECT_NEAR(static_cast<double>(gone - front.idle.begin()), 150, 20);
}

}  // namespace
}  // namespace idlewave::sim::noise
