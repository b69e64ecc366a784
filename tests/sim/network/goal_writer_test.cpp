#include "workloads/sim/network/goal_writer.h"

#include <gmock/gmock.h>

#include "workloads/sim/network/collectives.h"
#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/goal_run.h"

namespace idlewave::sim::network {
namespace {

std::string text_of(const GoalSchedule& schedule) {
  std::string text = goal_head(schedule);
  GoalWriter writer(schedule);
  while (!writer.is_done()) writer.write_rank(text);
  return text;
}

TEST(GoalWriter, WritesEveryKindOfStatement) {
  GoalBuilder builder(2);
  const OpId calc = builder.calc(0, 100, {3, 0}), send = builder.send(0, 8, 1, 7, {1, 2});
  builder.after(send, calc), builder.after_start(builder.recv(0, 9, kAnySource, kAnyTag), calc);
  builder.recv(1, 8, 0, 7);
  EXPECT_EQ(text_of(*std::move(builder).build()),
            "num_ranks 2\nrank 0 {\nl0: calc 100 cpu 3\nl1: send 8b to 1 tag 7 cpu 1 nic 2\n"
            "l2: recv 9b from -1 tag -1\nl2 irequires l0\nl1 requires l0\n}\nrank 1 {\nl0: recv 8b from 0 tag 7\n}\n");
}

TEST(GoalWriter, WhatIsReadAgainIsTheSameSchedule) {
  RankPrograms programs(13);
  for (const Collective algorithm :
       {Collective::kAllreduceRecursiveDoubling, Collective::kGather, Collective::kBarrier}) {
    const auto pending = programs.start({algorithm, 100, 4});
    for (Rank rank = 0; rank < 13; ++rank) programs.calc(rank, 100 * std::uint64_t(rank));
    programs.wait(pending);
  }
  const auto schedule = std::move(programs).build();
  const auto again = read_goal(text_of(*schedule), "test");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(text_of(*again), text_of(*schedule));
  const support::LogGops network{
      support::Nanoseconds(1000), support::Nanoseconds(100), support::Nanoseconds(40), 2e-9, 1e-9, 500};
  EXPECT_EQ(run(*again, network)->finish_ns, run(*schedule, network)->finish_ns);
}

}  // namespace
}  // namespace idlewave::sim::network
