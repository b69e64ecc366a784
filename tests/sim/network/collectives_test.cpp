#include "workloads/sim/network/collectives.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "tests/sim/network/every_collective.h"
#include "workloads/sim/network/goal_run.h"

namespace idlewave::sim::network {
namespace {

using support::LogGops;
using support::Nanoseconds;

constexpr std::int64_t kLatency = 1000;
const LogGops kLatencyOnly{Nanoseconds(kLatency), {}, {}, 0, 0, 1 << 20};
GoalRun run_programs(RankPrograms programs, const LogGops& network = kLatencyOnly) {
  const auto schedule = std::move(programs).build();
  auto result = run(*schedule, network);
  EXPECT_TRUE(result->complete()) << describe(result->stuck.front());
  return std::move(*result);
}

GoalRun run_one(Rank ranks, const CollectiveCall& call, Rank late = -1) {
  RankPrograms programs(ranks);
  if (late >= 0) programs.calc(late, 1'000'000);
  programs.call(call);
  programs.calc_all(1);  // so that a rank's finish is the end of its last receive
  return run_programs(std::move(programs));
}

std::int64_t last(const GoalRun& run) { return *std::max_element(run.finish_ns.begin(), run.finish_ns.end()) - 1; }

std::int64_t log2_up(Rank ranks) { return std::bit_width(std::uint32_t(ranks) - 1); }
bool is_power(Rank ranks) { return std::has_single_bit(std::uint32_t(ranks)); }

std::vector<Rank> late_ones(const GoalRun& run) {
  std::vector<Rank> late;
  for (std::size_t rank = 0; rank < run.finish_ns.size(); ++rank)
    if (run.finish_ns[rank] > 1'000'000) late.push_back(Rank(rank));
  return late;
}

TEST(Collectives, EveryAlgorithmEndsForAnyNumberOfRanksAndAnyRoot) {
  for (const Collective algorithm : kAll)
    for (Rank ranks = 1; ranks <= 20; ++ranks)
      for (Rank root = 0; root < ranks; root += 3) {
        SCOPED_TRACE(testing::Message() << int(algorithm) << " on " << ranks << " from " << root);
        EXPECT_TRUE(run_one(ranks, {algorithm, 100, root}).complete());
      }
}

/// Recursive doubling among the largest power of two of members: what member `a` had at its start reaches `b` after as
/// many latencies as bits differ; the first ranks - power members fold another rank in before, and out after.
std::int64_t folded_path(Rank ranks) {
  const auto members = std::bit_floor(std::uint32_t(ranks)), pairs = std::uint32_t(ranks) - members;
  std::int64_t longest = 0;
  for (std::uint32_t a = 0; a < members; ++a)
    for (std::uint32_t b = 0; b < members; ++b)
      longest = std::max<std::int64_t>(longest, (a < pairs) + std::popcount(a ^ b) + (b < pairs));
  return longest;
}

TEST(Collectives, TakeAsManyLatenciesAsTheirLongestPath) {
  for (Rank ranks = 2; ranks <= 40; ++ranks) {
    SCOPED_TRACE(ranks);
    EXPECT_EQ(last(run_one(ranks, {Collective::kBarrier})), log2_up(ranks) * kLatency);
    EXPECT_EQ(last(run_one(ranks, {Collective::kAllreduceDissemination})), log2_up(ranks) * kLatency);
    EXPECT_EQ(last(run_one(ranks, {Collective::kAllreduceRecursiveDoubling})), folded_path(ranks) * kLatency);
    EXPECT_EQ(last(run_one(ranks, {Collective::kAllgatherRecursiveDoubling})), folded_path(ranks) * kLatency);
    EXPECT_EQ(last(run_one(ranks, {Collective::kAllreduceRing})), 2 * (ranks - 1) * kLatency);
    EXPECT_EQ(last(run_one(ranks, {Collective::kAllgatherRing})), (ranks - 1) * kLatency);
    // A tree's depth: the most bits that a place below p has.
    int depth = 0;
    for (Rank place = 0; place < ranks; ++place) depth = std::max(depth, std::popcount(std::uint32_t(place)));
    for (const auto algorithm :
         {Collective::kBroadcast, Collective::kReduce, Collective::kGather, Collective::kScatter})
      EXPECT_EQ(last(run_one(ranks, {algorithm})), depth * kLatency);
  }
}

TEST(Collectives, SendAsManyMessagesAsTheirFormulaSays) {
  for (const Rank ranks : {2, 3, 7, 8, 12, 32}) {
    SCOPED_TRACE(ranks);
    const auto p = std::uint64_t(ranks), rounds = std::uint64_t(log2_up(ranks));
    const std::uint64_t power = std::bit_floor(p),
                        doubling = power * std::uint64_t(std::bit_width(power) - 1) + 2 * (p - power);
    EXPECT_EQ(run_one(ranks, {Collective::kBarrier}).messages, p * rounds);
    EXPECT_EQ(run_one(ranks, {Collective::kAllreduceRecursiveDoubling}).messages, doubling);
    EXPECT_EQ(run_one(ranks, {Collective::kAllgatherRecursiveDoubling}).messages, doubling);
    EXPECT_EQ(run_one(ranks, {Collective::kAllreduceRing}).messages, 2 * p * (p - 1));
    EXPECT_EQ(run_one(ranks, {Collective::kAllgatherRing}).messages, p * (p - 1));
    for (const auto algorithm :
         {Collective::kBroadcast, Collective::kReduce, Collective::kGather, Collective::kScatter})
      EXPECT_EQ(run_one(ranks, {algorithm, 1, ranks / 2}).messages, p - 1);
  }
}

/// Bytes that each rank is sent.
std::vector<std::uint64_t> received(Rank ranks, const CollectiveCall& call) {
  RankPrograms programs(ranks);
  programs.call(call);
  const auto schedule = std::move(programs).build();
  std::vector<std::uint64_t> bytes(std::size_t(ranks), 0);
  for (const GoalOp& op : schedule->ops())
    if (op.kind == OpKind::kSend) bytes[std::size_t(op.peer)] += op.amount;
  return bytes;
}

TEST(Collectives, BringEveryBlockWhereItBelongs) {
  for (const Rank ranks : {2, 5, 8, 13}) {
    SCOPED_TRACE(ranks);
    const auto others = 10 * (std::uint64_t(ranks) - 1);
    EXPECT_THAT(received(ranks, {Collective::kAllgatherRing, 10}), testing::Each(others));
    EXPECT_THAT(received(ranks, {Collective::kAllgatherBruck, 10}), testing::Each(others));
    EXPECT_EQ(received(ranks, {Collective::kGather, 10, 1})[1], others);
    if (is_power(ranks)) {
      EXPECT_THAT(received(ranks, {Collective::kAllgatherRecursiveDoubling, 10}), testing::Each(others));
    }
    const auto scattered = received(ranks, {Collective::kScatter, 10, 1});
    for (Rank rank = 0; rank < ranks; ++rank) EXPECT_EQ(scattered[std::size_t(rank)] >= 10, rank != 1) << rank;
  }
}

TEST(Collectives, OneLateRankDelaysAllInTheSymmetricOnes) {
  for (const Rank ranks : {8, 13})
    for (const auto algorithm :
         {Collective::kBarrier, Collective::kAllreduceDissemination, Collective::kAllreduceRecursiveDoubling,
          Collective::kAllreduceRing, Collective::kAllgatherRing, Collective::kAllgatherRecursiveDoubling})
      for (Rank late = 0; late < ranks; ++late)
        EXPECT_EQ(late_ones(run_one(ranks, {algorithm, 64}, late)).size(), std::size_t(ranks))
            << int(algorithm) << " behind " << late;
}

TEST(Collectives, ALateRankDelaysItsDescendantsInABroadcastOnly) {
  // Places of a binomial tree of 16 from root 3: place 4 (rank 7) has 5, 6, 7 below it, place 8 (rank 11) 9 to 15.
  EXPECT_THAT(late_ones(run_one(16, {Collective::kBroadcast, 1, 3}, 7)), testing::ElementsAre(7, 8, 9, 10));
  EXPECT_THAT(late_ones(run_one(16, {Collective::kScatter, 1, 3}, 11)),
              testing::ElementsAre(0, 1, 2, 11, 12, 13, 14, 15));
  EXPECT_THAT(late_ones(run_one(16, {Collective::kBroadcast, 1, 3}, 4)), testing::ElementsAre(4));
  EXPECT_EQ(late_ones(run_one(16, {Collective::kBroadcast, 1, 3}, 3)).size(), 16u);
}

TEST(Collectives, ALateRankDelaysItsAncestorsInAReductionOnly) {
  // Place 7 sends to 6, which sends to 4, which sends to 0: ranks 10, 9, 7 and the root 3.
  EXPECT_THAT(late_ones(run_one(16, {Collective::kReduce, 1, 3}, 10)), testing::ElementsAre(3, 7, 9, 10));
  EXPECT_THAT(late_ones(run_one(16, {Collective::kGather, 1, 3}, 10)), testing::ElementsAre(3, 7, 9, 10));
  EXPECT_THAT(late_ones(run_one(16, {Collective::kReduce, 1, 3}, 3)), testing::ElementsAre(3));
}

TEST(Collectives, ANonblockingOneHidesBehindACalculation) {
  const auto time_of = [](bool blocking) {
    RankPrograms programs(2);
    const auto pending = programs.start({Collective::kBarrier});
    if (blocking) programs.wait(pending);
    programs.calc_all(5000);
    if (!blocking) programs.wait(pending);
    programs.calc_all(1);
    return last(run_programs(std::move(programs)));
  };
  EXPECT_EQ(time_of(true), kLatency + 5000);
  EXPECT_EQ(time_of(false), 5000);
}

TEST(Collectives, StepsOfCalculationAndBarrierAddUp) {
  RankPrograms programs(8);
  for (int step = 0; step < 10; ++step) {
    programs.calc_all(700);
    programs.call({Collective::kBarrier});
  }
  programs.calc_all(1);
  EXPECT_EQ(last(run_programs(std::move(programs))), 10 * (700 + 3 * kLatency));
}

}  // namespace
}  // namespace idlewave::sim::network
