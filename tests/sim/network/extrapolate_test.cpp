#include "workloads/sim/network/extrapolate.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <random>
#include <string>
#include <vector>

#include "tests/sim/network/every_collective.h"
#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/goal_run.h"

namespace idlewave::sim::network {
namespace {

using support::LogGops;
using support::Nanoseconds;

const LogGops kNetwork{Nanoseconds(1000), Nanoseconds(100), Nanoseconds(40), 2e-9, 1e-9, 500};

/// The same program on any number of ranks: rank r works as rank r mod `period` does.
GoalSchedule program(Rank ranks, Rank period, const std::vector<CollectiveCall>& calls) {
  RankPrograms programs(ranks);
  const auto work = [&](std::uint64_t unit) {
    for (Rank rank = 0; rank < ranks; ++rank) programs.calc(rank, unit * std::uint64_t(1 + rank % period * 7 % 5));
  };
  work(1000);
  for (const CollectiveCall& call : calls) {
    programs.call(call);
    work(300);
  }
  return *std::move(programs).build();
}

std::vector<std::int64_t> finish(const GoalSchedule& schedule) {
  const auto result = run(schedule, kNetwork);
  EXPECT_TRUE(result && result->complete());
  return result->finish_ns;
}

void expect_extrapolates(Rank ranks, Rank factor, const std::vector<CollectiveCall>& calls) {
  const GoalSchedule small = program(ranks, ranks, calls), large = program(ranks * factor, ranks, calls);
  const auto found = find_collectives(small);
  ASSERT_EQ(found.calls.size(), calls.size());
  const auto ours = extrapolate(small, found, factor);
  ASSERT_TRUE(ours) << ours.error().message;
  EXPECT_EQ(ours->ops().size(), large.ops().size());
  EXPECT_LE(double(large.ops().size()), ops_of_extrapolation(small, found, factor));
  EXPECT_EQ(finish(*ours), finish(large));
}

/// A multiple of the ranks, as is assumed of an allreduce round a ring.
std::uint64_t bytes_for(Collective algorithm, Rank ranks) {
  return algorithm == Collective::kBarrier         ? 1
         : algorithm == Collective::kAllreduceRing ? 12 * std::uint64_t(ranks)
                                                   : 60;
}

TEST(Extrapolate, EveryCollectiveBecomesThatOfMoreRanks) {
  for (const Collective algorithm : kAll)
    for (Rank ranks = 3; ranks <= 17; ++ranks)
      for (const Rank factor : {1, 2, 3, 4})
        for (Rank root = 0; root < ranks; root += 1 + ranks / 3) {
          SCOPED_TRACE(testing::Message() << int(algorithm) << " on " << ranks << " from " << root << " to " << factor);
          const bool looks_like_another = algorithm == Collective::kScatter || algorithm == Collective::kGather ||
                                          algorithm == Collective::kAllgatherBruck;
          if (ranks == 3 && looks_like_another) continue;
          expect_extrapolates(ranks, factor, {{algorithm, bytes_for(algorithm, ranks), root}});
        }
}

TEST(Extrapolate, ProgramsOfManyCollectivesBecomeThoseOfMoreRanks) {
  const unsigned seed = any_seed();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const auto from = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  for (int number = 0; number < 200; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", program " << number);
    const Rank ranks = from(4, 12);
    std::vector<CollectiveCall> calls;
    for (int n = from(1, 6); n > 0; --n) {
      const Collective algorithm = kAll[from(0, int(std::size(kAll)) - 1)];
      calls.push_back({algorithm, bytes_for(algorithm, ranks), from(0, ranks - 1)});
    }
    expect_extrapolates(ranks, from(2, 4), calls);
  }
}

TEST(Extrapolate, ANonblockingCollectiveStaysOne) {
  const auto overlapped = [](Rank ranks) {
    RankPrograms programs(ranks);
    const auto pending = programs.start({Collective::kBarrier});
    programs.calc_all(5000);
    programs.wait(pending);
    programs.calc_all(1);
    return *std::move(programs).build();
  };
  const GoalSchedule small = overlapped(5);
  const auto large = extrapolate(small, find_collectives(small), 3);
  EXPECT_EQ(finish(*large), finish(overlapped(15)));
}

/// `steps` times: work, then a message to each of `distances` and one from the other side.
GoalSchedule exchange(Rank ranks, Rank period, int steps, const std::vector<Rank>& distances, bool ends_with_barrier) {
  GoalBuilder builder(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    std::vector<OpId> last;
    const auto follow = [&](OpId op) {
      for (const OpId earlier : last) builder.after(op, earlier);
      return op;
    };
    for (int step = 0; step < steps; ++step) {
      last = {follow(builder.calc(rank, 1000 + 100 * std::uint64_t(rank % period * 3 % 4)))};
      std::vector<OpId> now;
      for (const Rank distance : distances) {
        now.push_back(follow(builder.send(rank, 64, (rank + distance + ranks) % ranks, 7)));
        now.push_back(follow(builder.recv(rank, 64, (rank - distance + ranks) % ranks, 7)));
      }
      last = now;
    }
    if (!ends_with_barrier) continue;
    for (Rank distance = 1; distance < ranks; distance *= 2) {
      const OpId send = follow(builder.send(rank, 1, (rank + distance) % ranks, 7));
      const OpId recv = follow(builder.recv(rank, 1, (rank - distance + ranks) % ranks, 7));
      last = {send, recv};
    }
  }
  return *std::move(builder).build();
}

TEST(Extrapolate, NeighboursInARingStayNeighboursInARing) {
  for (const Rank ranks : {4, 5, 8, 9})
    for (const auto& distances : std::vector<std::vector<Rank>>{{1}, {-1}, {-1, 1}}) {
      const GoalSchedule small = exchange(ranks, ranks, 2 * ranks, distances, false);
      const auto found = find_collectives(small);
      EXPECT_TRUE(found.calls.empty());
      EXPECT_EQ(finish(*extrapolate(small, found, 3)), finish(exchange(3 * ranks, ranks, 2 * ranks, distances, false)));
    }
}

TEST(Extrapolate, ACollectiveIsFoundBehindMessagesOfItsTag) {
  const GoalSchedule small = exchange(6, 6, 3, {-1, 1}, true);
  const auto found = find_collectives(small);
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_EQ(finish(*extrapolate(small, found, 2)), finish(exchange(12, 6, 3, {-1, 1}, true)));
}

/// As the examples of LogGOPSim write it: a send waits for the receive before it, a receive for nothing.
TEST(Extrapolate, ADisseminationWithFewerWaitsIsFound) {
  constexpr Rank kRanks = 16;
  std::string text = "num_ranks 16\n";
  for (Rank rank = 0; rank < kRanks; ++rank) {
    text += "rank " + std::to_string(rank) + " {\n";
    for (Rank distance = 1; distance < kRanks; distance *= 2) {
      const std::string d = std::to_string(distance);
      text += "s" + d + ": send 1b to " + std::to_string((rank + distance) % kRanks) + " tag 0\n";
      text += "r" + d + ": recv 1b from " + std::to_string((rank - distance + kRanks) % kRanks) + " tag 0\n";
      if (distance > 1) text += "s" + d + " requires r" + std::to_string(distance / 2) + "\n";
    }
    text += "}\n";
  }
  const auto small = read_goal(text, "test");
  ASSERT_TRUE(small) << small.error().message;
  const auto found = find_collectives(*small);
  ASSERT_EQ(found.calls.size(), 1u);
  RankPrograms large(4 * kRanks);
  large.call({Collective::kBarrier});
  EXPECT_EQ(finish(*extrapolate(*small, found, 4)), finish(*std::move(large).build()));
}

TEST(Extrapolate, AMessageKeepsItsDistanceTheShorterWayRound) {
  const auto peers = [](const std::string& text, Rank factor) {
    const auto small = read_goal(text, "test");
    const auto large = extrapolate(*small, find_collectives(*small), factor);
    std::vector<std::pair<Rank, Rank>> sends;
    for (const GoalOp& op : large->ops())
      if (op.kind == OpKind::kSend) sends.emplace_back(op.rank, op.peer);
    EXPECT_TRUE(run(*large, kNetwork)->complete());
    return sends;
  };
  using Pairs = std::vector<std::pair<Rank, Rank>>;
  // Rank 0 to rank 4 of 5 is one down.
  EXPECT_EQ(
      peers("num_ranks 5\nrank 0 { send 8b to 4 }\nrank 1 {\n}\nrank 2 {\n}\nrank 3 {\n}\nrank 4 { recv 8b from 0 }\n",
            2),
      (Pairs{{0, 9}, {5, 4}}));
  // Two ranks: upwards, either of them.
  EXPECT_EQ(
      peers("num_ranks 2\nrank 0 { send 8b to 1\nrecv 8b from 1 }\nrank 1 { send 8b to 0\nrecv 8b from -1 }\n", 2),
      (Pairs{{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
  EXPECT_EQ(peers("num_ranks 1\nrank 0 { send 8b to 0\nrecv 8b from 0 }\n", 3), (Pairs{{0, 0}, {1, 1}, {2, 2}}));
}

TEST(Extrapolate, CalculationsDelaysAndDependencesAreCopied) {
  GoalBuilder builder(2);
  const OpId delay = builder.idle(0, 500), work = builder.calc(0, 100, {1, 0}, 9), late = builder.calc(0, 10);
  builder.after(work, delay), builder.after_start(late, work);
  builder.calc(1, 77);
  const GoalSchedule small = *std::move(builder).build();
  const auto large = extrapolate(small, find_collectives(small), 2);
  ASSERT_EQ(large->ops().size(), 8u);
  for (const std::size_t first : {0u, 4u}) {
    EXPECT_TRUE(large->ops()[first].idle);
    EXPECT_EQ(large->ops()[first + 1].units.cpu, 1);
    EXPECT_EQ(large->ops()[first + 1].tag, 9u);
    EXPECT_EQ(large->dependents(OpId(first + 1))[0], OpId(first + 2) | GoalSchedule::kWaitsForStart);
    EXPECT_EQ(large->ops()[first + 3].rank, Rank(first / 2 + 1));
  }
}

TEST(Extrapolate, RefusesMoreThanAScheduleCanHold) {
  const GoalSchedule small = program(4, 4, {{Collective::kAllgatherRing, 8}});
  const auto found = find_collectives(small);
  EXPECT_THAT(extrapolate(small, found, 1'000'000).error().message, testing::HasSubstr("operations"));
  EXPECT_THAT(extrapolate(small, found, 1'000'000'000).error().message, testing::HasSubstr("100000000 ranks"));
  EXPECT_THAT(extrapolate(small, found, 0).error().message, testing::HasSubstr("from 1"));
  const GoalSchedule big = program(4, 4, {{Collective::kGather, kMaxMessageBytes / 4}});
  EXPECT_THAT(extrapolate(big, find_collectives(big), 2).error().message, testing::HasSubstr("messages of more than"));
}

}  // namespace
}  // namespace idlewave::sim::network
