// Whom ranks of schedules and collectives say that they wait for. The truth of a collective is a run in which one rank is
// late: whoever ends its step late has waited for it.

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "workloads/sim/network/collective_scenario.h"
#include "workloads/sim/network/collective_waits.h"
#include "workloads/sim/network/schedule_waits.h"

namespace idlewave::sim::network {
namespace {

using core::WaitsOfStep;
using core::WaitTable;
using testing::ElementsAre;
using testing::IsEmpty;

/// Steps of all ranks; `communicate` adds what a rank does after its work, behind the operation that it is given, and
/// gives the last of it.
template <class Communicate>
ScheduledProgram program_of(Rank ranks, int steps, Communicate communicate) {
  GoalBuilder builder(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    OpId before = PlacedOp::kNone;
    for (int step = 0; step < steps; ++step) {
      const OpId work = builder.calc(rank, 1000);
      if (before != PlacedOp::kNone) builder.after(work, before);
      before = communicate(builder, rank, step, work);
    }
  }
  support::LogGops network;
  network.rendezvous_size = 100;
  return {std::move(*std::move(builder).build()), network, std::nullopt, nullptr};
}

const core::Wait& only_wait(const WaitTable& table, Rank rank) {
  const auto& cycle = table.cycles().at(table.follows().at(std::size_t(rank)) - 1);
  EXPECT_EQ(cycle.size(), 1u);
  EXPECT_EQ(cycle.at(0).size(), 1u);
  return table.waits().at(cycle.at(0).at(0));
}

OpId exchange(GoalBuilder& builder, Rank rank, Rank to, Rank from, std::uint64_t bytes, OpId work) {
  const OpId sent = builder.send(rank, bytes, to, 0), received = builder.recv(rank, bytes, from, 0);
  builder.after(sent, work);
  builder.after(received, work);
  return received;
}

TEST(WaitsOfASchedule, OfARingAreItsSenders) {
  constexpr Rank kRanks = 6;
  const auto program = [](std::uint64_t bytes) {
    return program_of(kRanks, 4, [=](GoalBuilder& builder, Rank rank, int, OpId work) {
      return exchange(builder, rank, (rank + 1) % kRanks, (rank + kRanks - 1) % kRanks, bytes, work);
    });
  };
  const WaitTable eager = waits_of(program(100)), rendezvous = waits_of(program(101));
  EXPECT_EQ(eager.waits().size(), 1u);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(only_wait(eager, rank), (core::Wait{false, false, {-1}, {}}));
    EXPECT_EQ(only_wait(rendezvous, rank), (core::Wait{true, false, {-1}, {1}}));
  }
}

TEST(WaitsOfASchedule, ComeInTheCycleOfItsSteps) {
  constexpr Rank kRanks = 8;
  const WaitTable table = waits_of(program_of(kRanks, 9, [](GoalBuilder& builder, Rank rank, int step, OpId work) {
    const Rank distance = step % 3 == 2 ? 2 : 1;
    return exchange(builder, rank, (rank + distance) % kRanks, (rank + kRanks - distance) % kRanks, 8, work);
  }));
  ASSERT_EQ(table.cycles().size(), 1u);
  const auto& cycle = table.cycles()[0];
  ASSERT_EQ(cycle.size(), 3u);
  EXPECT_EQ(cycle[0], cycle[1]);
  EXPECT_THAT(table.waits()[cycle[2].at(0)].from, ElementsAre(-2));
}

TEST(WaitsOfASchedule, OneAfterAnotherAreSeveralWaits) {
  constexpr Rank kRanks = 8;
  const WaitTable table = waits_of(program_of(kRanks, 3, [](GoalBuilder& builder, Rank rank, int, OpId work) {
    const OpId first = exchange(builder, rank, (rank + 1) % kRanks, (rank + kRanks - 1) % kRanks, 8, work);
    return exchange(builder, rank, (rank + 2) % kRanks, (rank + kRanks - 2) % kRanks, 8, first);
  }));
  ASSERT_EQ(table.cycles().size(), 1u);
  ASSERT_EQ(table.cycles()[0].size(), 1u);
  const WaitsOfStep& step = table.cycles()[0][0];
  ASSERT_EQ(step.size(), 2u);
  EXPECT_THAT(table.waits()[step[0]].from, ElementsAre(-1));
  EXPECT_THAT(table.waits()[step[1]].from, ElementsAre(-2));
}

TEST(WaitsOfASchedule, AreNotSaidWhereItReceivesFromWhoeverSends) {
  const WaitTable table = waits_of(program_of(2, 2, [](GoalBuilder& builder, Rank rank, int, OpId work) {
    return exchange(builder, rank, 1 - rank, kAnySource, 8, work);
  }));
  EXPECT_THAT(table.follows(), testing::Each(0u));
}

support::Scenario calling(support::CollectiveKind kind, support::CollectiveAlgorithm algorithm, Rank ranks, Rank root) {
  support::Scenario scenario;
  scenario.machine = {.ranks = ranks, .ranks_per_domain = ranks};
  scenario.program = {.steps = 1, .kernel = support::Kernel::kCore};
  scenario.program.time = std::chrono::milliseconds(1);
  scenario.communication.loggops = support::LogGops{};
  scenario.communication.loggops->latency = std::chrono::nanoseconds(100);
  scenario.communication.loggops->overhead = std::chrono::nanoseconds(10);
  scenario.communication.loggops->rendezvous_size = 1 << 20;
  scenario.communication.collective = {kind, algorithm, support::CollectiveMode::kBlocking, root};
  return scenario;
}

/// When each rank ended its only step.
class Ends final : public core::Recorder {
 public:
  explicit Ends(Rank ranks) : ends_(std::size_t(ranks)) {}
  void step_begins(Rank, core::Step, double) override {}
  void enters(Rank rank, core::Step, core::Phase phase, double time) override {
    if (phase == core::Phase::kNone) ends_[std::size_t(rank)] = time;
  }
  double of(Rank rank) const { return ends_[std::size_t(rank)]; }

 private:
  std::vector<double> ends_;
};

bool says(const WaitTable& table, Rank rank, Rank other, Rank ranks) {
  const core::Wait& wait = only_wait(table, rank);
  const auto leads_there = [&](Rank distance) { return (rank + distance + ranks) % ranks == other; };
  return wait.collective || std::ranges::any_of(wait.from, leads_there);
}

TEST(WaitsOfACollective, AreThoseWhoMakeARankLate) {
  using support::CollectiveAlgorithm;
  using support::CollectiveKind;
  const std::pair<CollectiveKind, CollectiveAlgorithm> kAll[] = {
      {CollectiveKind::kAllreduce, CollectiveAlgorithm::kDissemination},
      {CollectiveKind::kAllreduce, CollectiveAlgorithm::kRing},
      {CollectiveKind::kBarrier, CollectiveAlgorithm::kDissemination},
      {CollectiveKind::kBroadcast, CollectiveAlgorithm::kBinomial},
      {CollectiveKind::kReduce, CollectiveAlgorithm::kBinomial},
      {CollectiveKind::kGather, CollectiveAlgorithm::kBinomial},
      {CollectiveKind::kScatter, CollectiveAlgorithm::kBinomial}};
  for (const auto& [kind, algorithm] : kAll) {
    for (const Rank ranks : {2, 7, 16}) {
      const Rank root = ranks / 3;
      const WaitTable table = waits_of_collective(calling(kind, algorithm, ranks, root).communication, ranks);
      for (Rank late = 0; late < ranks; ++late) {
        support::Scenario scenario = calling(kind, algorithm, ranks, root);
        scenario.delays = {{late, 0, std::chrono::seconds(1)}};
        Ends ends(ranks);
        ASSERT_TRUE(run_collectives(scenario, {.recorder = &ends}));
        for (Rank rank = 0; rank < ranks; ++rank) {
          if (rank == late) continue;
          ASSERT_EQ(ends.of(rank) > 0.5, says(table, rank, late, ranks))
              << "kind " << int(kind) << ", rank " << rank << " of " << ranks << ", late " << late;
        }
      }
    }
  }
}

TEST(WaitsOfACollective, AreNobodyWhereItCostsNothingAndNotSaidWhereItIsStartedBeforeTheWork) {
  support::Scenario scenario =
      calling(support::CollectiveKind::kAllreduce, support::CollectiveAlgorithm::kDissemination, 4, 0);
  scenario.communication.collective->mode = support::CollectiveMode::kIdeal;
  const WaitTable ideal = waits_of_collective(scenario.communication, 4);
  EXPECT_THAT(ideal.cycles().at(0).at(0), IsEmpty());
  scenario.communication.collective->mode = support::CollectiveMode::kNonblocking;
  EXPECT_THAT(waits_of_collective(scenario.communication, 4).follows(), testing::Each(0u));
  support::Scenario tree = calling(support::CollectiveKind::kBroadcast, support::CollectiveAlgorithm::kBinomial, 4, 0);
  EXPECT_THAT(waits_of_collective(tree.communication, 4).follows(), testing::Each(testing::Gt(0u)));
  tree.communication.message_size = 2 << 20;
  EXPECT_THAT(waits_of_collective(tree.communication, 4).follows(), testing::Each(0u)) << "by rendezvous";
}

}  // namespace
}  // namespace idlewave::sim::network
