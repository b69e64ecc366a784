#include "workloads/sim/core/in_order.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <tuple>

namespace idlewave::sim::core {
namespace {

using Call = std::tuple<double, Rank, Step, std::optional<Phase>>;

struct Calls final : Recorder {
  void step_begins(Rank rank, Step step, double time) override { all.emplace_back(time, rank, step, std::nullopt); }
  void enters(Rank rank, Step step, Phase phase, double time) override { all.emplace_back(time, rank, step, phase); }
  std::vector<Call> all;
};

/// Ranks are told one after another, each some way ahead of what is promised of all.
TEST(InOrder, PassesOnWhatWasToldAsIfItHadBeenSorted) {
  const unsigned seed = any_seed();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const auto upto = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  for (int round = 0; round < 200; ++round) {
    Calls told, passed_on;
    InOrder in_order(passed_on);
    std::vector<int> times(std::size_t(1 + upto(7)), 0);
    for (int horizon = 0; horizon < 50; horizon += upto(5)) {
      in_order.nothing_before(horizon);
      for (const Call& call : passed_on.all) ASSERT_LT(std::get<double>(call), horizon) << "seed " << seed;
      for (std::size_t rank = 0; rank < times.size(); ++rank) {
        times[rank] = std::max(times[rank], horizon);
        for (int calls = upto(4); calls > 0; --calls, times[rank] += upto(3)) {
          for (Recorder* recorder : {static_cast<Recorder*>(&told), static_cast<Recorder*>(&in_order)}) {
            if (calls % 2 == 0)
              recorder->step_begins(Rank(rank), calls, times[rank]);
            else
              recorder->enters(Rank(rank), calls, Phase::kCompute, times[rank]);
          }
        }
      }
    }
    in_order.nothing_before(1e9);
    std::ranges::stable_sort(told.all, {}, [](const Call& call) { return std::get<double>(call); });
    ASSERT_EQ(passed_on.all, told.all) << "seed " << seed;
    EXPECT_TRUE(in_order.empty());
    EXPECT_EQ(in_order.last(), told.all.empty() ? 0 : std::get<double>(told.all.back()));
  }
}

}  // namespace
}  // namespace idlewave::sim::core
