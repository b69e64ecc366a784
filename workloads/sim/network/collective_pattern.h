#pragma once
// Who talks to whom in a collective, and what that costs in ticks, for the inner loops of its engines.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "workloads/sim/network/collectives.h"
#include "workloads/sim/network/costs.h"
#include "workloads/sim/network/waiting_messages.h"

namespace idlewave::sim::network {

inline Charges ticks_of(const Costs& costs, std::uint64_t bytes) {
  const Charges charges = charges_of(costs, bytes);
  return {charges.send_cpu * kTicks, charges.receive_cpu * kTicks, charges.nic * kTicks, charges.eager};
}

/// Dissemination of messages that are all alike: the most frequent one, worth a form of its own.
class DisseminationPattern {
 public:
  static bool fits(Collective algorithm) {
    return algorithm == Collective::kBarrier || algorithm == Collective::kAllreduceDissemination ||
           algorithm == Collective::kAllgatherDissemination;
  }

  DisseminationPattern(const CollectiveCall& call, Rank ranks, const Costs& costs)
      : ranks_(ranks),
        rounds_(CollectiveRounds(call, ranks).count(0)),
        charges_(ticks_of(costs, call.algorithm == Collective::kBarrier ? 1 : call.bytes)) {}

  static constexpr bool is_deep() { return false; }
  static constexpr std::size_t counter(Rank, int) { return 0; }

  std::uint32_t rounds(Rank) const { return rounds_; }
  bool sends(Rank, std::uint32_t) const { return true; }
  int lane(Rank, std::uint32_t round) const { return int(round); }
  std::pair<Rank, int> target(Rank rank, std::uint32_t round) const {
    const std::uint32_t to = std::uint32_t(rank) + (std::uint32_t{1} << round);
    return {Rank(std::min(to, to - std::uint32_t(ranks_))), int(round)};
  }
  Rank sender(Rank rank, int lane) const {
    const Rank distance = Rank(1) << lane;
    return rank >= distance ? rank - distance : rank + (ranks_ - distance);
  }
  const Charges& sent(Rank, std::uint32_t) const { return charges_; }
  const Charges& received(Rank, int) const { return charges_; }

 private:
  Rank ranks_;
  std::uint32_t rounds_;
  Charges charges_;
};

class AnyPattern {
 public:
  AnyPattern(const CollectiveCall& call, Rank ranks, const Costs& costs)
      : rounds_(call, ranks),
        costs_(costs),
        is_deep_(is_deep(call.algorithm)),
        by_sender_(call.algorithm == Collective::kReduce || call.algorithm == Collective::kGather) {}

  /// Whether messages of many rounds may wait for a rank: in rings, and in trees, whose leaves or root may be ahead by
  /// many steps. In all others a rank is ahead of a partner by one step at most, since nobody ends one before all have
  /// begun it.
  static bool is_deep(Collective algorithm) {
    switch (algorithm) {
      case Collective::kAllreduceRing:
      case Collective::kAllgatherRing:
      case Collective::kBroadcast:
      case Collective::kReduce:
      case Collective::kGather:
      case Collective::kScatter: return true;
      case Collective::kBarrier:
      case Collective::kAllreduceDissemination:
      case Collective::kAllreduceRecursiveDoubling:
      case Collective::kAllgatherRecursiveDoubling:
      case Collective::kAllgatherBruck:
      case Collective::kAllgatherDissemination: break;
    }
    return false;
  }
  bool is_deep() const { return is_deep_; }

  /// Of a deep one: where to count what `rank` has received through a lane. Each rank is one child, or has one lane.
  std::size_t counter(Rank rank, int lane) const { return std::size_t(by_sender_ ? sender(rank, lane) : rank); }

  std::uint32_t rounds(Rank rank) const { return rounds_.count(rank); }
  bool sends(Rank rank, std::uint32_t round) const { return rounds_.at(rank, round).to != kNobody; }
  int lane(Rank rank, std::uint32_t round) const {
    const Round what = rounds_.at(rank, round);
    return what.from == kNobody ? kNoLane : what.lane;
  }
  std::pair<Rank, int> target(Rank rank, std::uint32_t round) const {
    const Round what = rounds_.at(rank, round);
    return {what.to, what.to_lane};
  }
  Rank sender(Rank rank, int lane) const { return rounds_.first_of_lane(rank, lane).from; }
  Charges sent(Rank rank, std::uint32_t round) const { return ticks_of(costs_, rounds_.at(rank, round).send_bytes); }
  Charges received(Rank rank, int lane) const {
    return ticks_of(costs_, rounds_.first_of_lane(rank, lane).receive_bytes);
  }

 private:
  CollectiveRounds rounds_;
  Costs costs_;
  bool is_deep_;
  bool by_sender_;
};

}  // namespace idlewave::sim::network
