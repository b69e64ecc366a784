// The engine of GOAL schedules against LogGOPSim itself: what that said of random schedules is in
// tests/golden/loggopsim.txt. Where LogGOPSim is at hand, loggopsim.py compares the two on as many more as it is asked
// for.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/goal_run.h"

namespace idlewave::sim::network {
namespace {

struct Example {
  support::LogGops network;
  std::vector<std::int64_t> finish_ns;  ///< By LogGOPSim; empty: a deadlock.
  std::string text;
};

support::LogGops network_of(std::istream& in) {
  std::int64_t L = 0, o = 0, g = 0, G = 0, O = 0, S = 0;
  in >> L >> o >> g >> G >> O >> S;
  using support::Nanoseconds;
  return {Nanoseconds(L), Nanoseconds(o), Nanoseconds(g), double(G) * 1e-9, double(O) * 1e-9, std::uint64_t(S)};
}

std::vector<Example> examples() {
  std::ifstream file(IDLEWAVE_GOLDEN_DIR "/loggopsim.txt");
  std::vector<Example> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "network")
      all.push_back({network_of(words), {}, {}});
    else if (first == "finish")
      for (std::int64_t time; words >> time;) all.back().finish_ns.push_back(time);
    else if (!all.empty())
      all.back().text += line + "\n";
  }
  return all;
}

TEST(LogGOPSim, FinishesEveryRankAtTheSameNanosecond) {
  const auto all = examples();
  ASSERT_GT(all.size(), 140u);
  std::size_t deadlocks = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE("example " + std::to_string(i) + ":\n" + all[i].text);
    const auto schedule = read_goal(all[i].text, "example");
    ASSERT_TRUE(schedule) << schedule.error().message;
    const auto result = run(*schedule, all[i].network);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->complete() ? result->finish_ns : std::vector<std::int64_t>{}, all[i].finish_ns);
    deadlocks += !result->complete();
  }
  EXPECT_GT(deadlocks, 5u);
}

}  // namespace
}  // namespace idlewave::sim::network
