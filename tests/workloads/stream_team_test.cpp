#include "workloads/kernels/stream_team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <cmath>

namespace idlewave::kernels {
namespace {

using std::chrono::milliseconds;

std::vector<int> processors_of_ours() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &allowed)) processors.push_back(processor);
  }
  return processors;
}

TEST(StreamTeam, MovesBytesWithAnyLoopAndAnyNumberOfThreads) {
  const auto processors = processors_of_ours();
  // Not a multiple of anything, so that shares differ in length and end within a vector.
  auto team = StreamTeam::create(processors, 100'003, 4);
  ASSERT_TRUE(team) << team.error().message;
  for (const StreamKind kind : {StreamKind::kTriad, StreamKind::kTriadNt, StreamKind::kSlowTriad}) {
    for (std::size_t threads = 1; threads <= processors.size(); ++threads) {
      const auto bandwidth = team->bandwidth(kind, int(threads), milliseconds(1));
      ASSERT_TRUE(bandwidth) << bandwidth.error().message;
      EXPECT_TRUE(std::isfinite(*bandwidth) && *bandwidth > 0);
    }
  }
}

TEST(StreamTeam, LeavesThreadsThatAreThereAlreadyWhereTheyAre) {
  const auto before = processors_of_ours();
  auto team = StreamTeam::create({before.front()}, 1000, 3);
  ASSERT_TRUE(team) << team.error().message;
  EXPECT_TRUE(team->bandwidth(StreamKind::kTriad, 1, milliseconds(1)));
  EXPECT_EQ(processors_of_ours(), before);
}

TEST(StreamTeam, AProcessorThatCantBeHadIsNamed) {
  const auto team = StreamTeam::create({CPU_SETSIZE - 1}, 1000, 3);
  ASSERT_FALSE(team);
  EXPECT_NE(team.error().message.find("processor 1023"), std::string::npos);
}

TEST(StreamTeam, ArraysBeyondAllMemoryAreRefused) {
  EXPECT_FALSE(StreamTeam::create(processors_of_ours(), std::size_t{1} << 50, 3));
}

}  // namespace
}  // namespace idlewave::kernels
