// Threads that make the runs of a sweep.

#include "workloads/sim/sweep/row_pool.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace idlewave::sim::sweep {
namespace {

using std::chrono::milliseconds;

class RowPoolTest : public testing::Test {
 protected:
  RowPoolTest() {
    std::string folder = testing::TempDir() + "row_pool_XXXXXX";  // its own: tests run beside each other
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error(folder + " can't be made");
    options_.scenario = folder + "/s.toml";
    std::ofstream(options_.scenario) << R"(
[machine]
ranks = 12
ranks_per_domain = 4
core_bandwidth = "10 GB/s"
domain_bandwidth = "20 GB/s"
[program]
steps = 50
kernel = "memory"
volume = "10 MB"
[communication]
distances = [-1, 1]
)";
    options_.sweep.push_back({"program.steps", {}});
    for (int steps = 1; steps <= 40; ++steps) options_.sweep.front().values.push_back(std::to_string(steps));
  }
  ~RowPoolTest() override { std::filesystem::remove_all(options_.scenario.parent_path()); }

  /// Steps of each row, taken until nothing is left.
  static std::map<std::size_t, std::uint64_t> rank_steps(RowPool& pool) {
    std::map<std::size_t, std::uint64_t> found;
    while (!pool.is_done()) {
      for (const FinishedRow& row : pool.take(milliseconds(50))) {
        EXPECT_TRUE(row.row) << (row.row ? "" : row.row.error().message);
        EXPECT_TRUE(found.emplace(row.number, row.row ? row.row->rank_steps : 0).second)
            << "row " << row.number << " twice";
      }
    }
    return found;
  }

  Options options_;
  std::atomic<bool> stop_ = false;
};

TEST_F(RowPoolTest, MakesEachRowOnceByHoweverManyThreads) {
  for (const int threads : {1, 2, 5}) {
    RowPool pool(options_, threads, stop_);
    pool.add({0, 25});
    pool.add({25, 15});
    const auto found = rank_steps(pool);
    ASSERT_EQ(found.size(), 40u) << threads;
    for (const auto& [number, steps] : found) EXPECT_EQ(steps, 12 * (number + 1));
  }
}

TEST_F(RowPoolTest, TellsWhenAThreadHasNothingToDo) {
  RowPool pool(options_, 1, stop_);
  EXPECT_TRUE(pool.has_idle_thread());
  pool.add({0, 40});
  EXPECT_EQ(rank_steps(pool).size(), 40u);
  EXPECT_TRUE(pool.has_idle_thread());
  pool.add({3, 1});
  EXPECT_EQ(rank_steps(pool).size(), 1u);
}

TEST_F(RowPoolTest, LeavesWhatWaitsWhenItIsNotWantedAnyMore) {
  RowPool pool(options_, 2, stop_);
  pool.add({0, 1'000'000'000});
  EXPECT_FALSE(pool.has_idle_thread());
}

TEST_F(RowPoolTest, WaitsNoLongerThanAllowed) {
  RowPool pool(options_, 1, stop_);
  EXPECT_TRUE(pool.take(milliseconds(1)).empty());
}

}  // namespace
}  // namespace idlewave::sim::sweep
