// Rows of a sweep travel from rank to rank without losing a bit.

#include "workloads/sim/sweep/row_message.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <random>

namespace idlewave::sim::sweep {
namespace {

TEST(RowMessage, KeepsEveryBitOfARow) {
  const unsigned seed = any_seed();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<> uniform(0, 1e3);
  for (int i = 0; i < 1000; ++i) {
    sim::core::Run run{.makespan = uniform(random), .rank_steps = random(), .events = random(), .stopped = i % 2 == 0};
    for (int n = i % 7; n > 0; --n) run.active_means.push_back(i % 3 == 0 ? 2.5 * n : uniform(random));
    const double against = uniform(random);
    const FinishedRow row = decode_row(encode_row({std::size_t(i) << 20, Row{run, against}}));
    ASSERT_EQ(row.number, std::size_t(i) << 20);
    ASSERT_TRUE(row.row);
    EXPECT_EQ(row.row->makespan, run.makespan) << "seed " << seed;
    EXPECT_EQ(row.row->rank_steps, run.rank_steps);
    EXPECT_EQ(row.row->against, against) << "seed " << seed;
    EXPECT_EQ(row.row->events, run.events);
    EXPECT_EQ(row.row->stopped, run.stopped);
    EXPECT_EQ(row.row->active_means, run.active_means) << "seed " << seed;
  }
}

TEST(RowMessage, KeepsWhatIsWrongWithARun) {
  const FinishedRow row = decode_row(encode_row({7, wire::Error{"machine.ranks: from 1"}}));
  EXPECT_EQ(row.number, 7u);
  ASSERT_FALSE(row.row);
  EXPECT_EQ(row.row.error().message, "machine.ranks: from 1");
}

}  // namespace
}  // namespace idlewave::sim::sweep
