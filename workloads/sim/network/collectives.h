#pragma once
// Collective operations as schedules of messages, and programs made of calculations and collectives.

#include <cstdint>
#include <vector>

#include "workloads/sim/network/goal_schedule.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// The algorithms of R. Thakur, R. Rabenseifner, W. Gropp: "Optimization of Collective Communication Operations in
/// MPICH", IJHPCA 19, 2005, for any number p of ranks. Rounds and messages for p a power of two:
enum class Collective : std::uint8_t {
  kBarrier,                 ///< Dissemination: ceil(log2 p) rounds, p messages each (for any p).
  kAllreduceDissemination,  ///< The same with data.
  /// log2 p rounds; else two more, in which the ranks beyond a power of two fold in and out.
  kAllreduceRecursiveDoubling,
  kAllreduceRing,               ///< 2 (p - 1) rounds of a p-th of the data, rounded up to whole bytes (for any p).
  kAllgatherRing,               ///< p - 1 rounds (for any p).
  kAllgatherRecursiveDoubling,  ///< log2 p rounds, messages that double; folds like kAllreduceRecursiveDoubling.
  kAllgatherBruck,              ///< Dissemination: ceil(log2 p) rounds, messages that double, the last one of the rest.
  kAllgatherDissemination,      ///< The same with one block a message, as Schedgen, LogGOPSim's generator, has it.
  kBroadcast,                   ///< Binomial tree from the root: p - 1 messages (for any p), as the next three.
  kReduce,                      ///< Binomial tree towards the root.
  kGather,                      ///< The same; a message holds the blocks of the sender's subtree.
  kScatter,                     ///< Binomial tree from the root; a message holds the blocks of the receiver's subtree.
};

/// `bytes`: of the vector that is reduced or broadcast; of one rank's block for gather, scatter and allgather; a
/// barrier sends 1 B.
struct CollectiveCall {
  Collective algorithm = Collective::kBarrier;
  std::uint64_t bytes = 1;
  Rank root = 0;
};

inline constexpr Rank kNobody = -1;

/// What a scenario's ranks call in each step. Not without a collective.
CollectiveCall call_of(const support::Communication& communication);

/// What one rank does in one round of a collective: at the same time, and the next round when both have happened.
struct Round {
  Rank to = kNobody;
  std::uint64_t send_bytes = 0;
  int to_lane = 0;  ///< At the receiver.
  Rank from = kNobody;
  std::uint64_t receive_bytes = 0;
  int lane = 0;
};

/// The rounds of each rank, each computed in O(1) when it is asked for. All that a rank receives through one of its
/// lanes, kMostLanes or less, comes from one rank, in messages of one size, in the order of rounds and of calls.
class CollectiveRounds {
 public:
  static constexpr int kMostLanes = 32;

  CollectiveRounds(const CollectiveCall& call, Rank ranks);

  std::uint32_t count(Rank rank) const;
  Round at(Rank rank, std::uint32_t round) const;
  Round first_of_lane(Rank rank, int lane) const;  ///< The first round in which `rank` receives through it.

 private:
  Round dissemination(Rank rank, std::uint32_t round) const;
  Round doubling(Rank rank, std::uint32_t round) const;
  Round doubling_member(Rank rank, int lane) const;
  Round from_leaves(Rank rank, std::uint32_t round) const;

  CollectiveCall call_;
  Rank ranks_;
};

/// Puts the ranks' programs together, statement by statement. What a rank does next waits for what it did before.
class RankPrograms {
 public:
  explicit RankPrograms(Rank ranks, Tag first_tag = 0);  ///< Each collective takes one tag, from first_tag on.

  void calc(Rank rank, std::uint64_t nanoseconds);
  void calc_all(std::uint64_t nanoseconds);
  void call(const CollectiveCall& call);  ///< Blocking.

  /// A collective under way: begins where each rank stands, which goes on without it.
  class Pending {
    friend class RankPrograms;
    std::vector<std::vector<OpId>> last_;  ///< Of each rank.
  };
  Pending start(const CollectiveCall& call);  ///< Nonblocking.
  void wait(const Pending& pending);          ///< What comes next waits for it as well.

  wire::Result<GoalSchedule> build() && { return std::move(builder_).build(); }

 private:
  OpId follow(OpId op, const std::vector<OpId>& before);

  GoalBuilder builder_;
  std::vector<std::vector<OpId>> last_;  ///< Of each rank: what its next operation waits for.
  Tag next_tag_;
};

}  // namespace idlewave::sim::network
