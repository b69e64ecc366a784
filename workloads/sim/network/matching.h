#pragma once
// Which message a receive gets: by source and tag, the first that fits.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "workloads/sim/network/costs.h"
#include "workloads/sim/network/goal_options.h"
#include "workloads/sim/network/match_queue.h"

namespace idlewave::sim::network {

/// Of all ranks. A message is named by its send. Cost: as MatchQueue. Inlined, since a call is a tenth of what a message
/// costs the engine.
class Matching {
 public:
  explicit Matching(Rank ranks) : receives_(std::size_t(ranks)), unexpected_(std::size_t(ranks)) {}

  /// The message that the receive gets; none: the receive is posted.
  [[gnu::always_inline]] std::optional<OpId> post(OpId op, const GoalOp& receive) {
    const auto message = unexpected_[std::size_t(receive.rank)].take(receive.peer, receive.tag);
    if (!message) receives_[std::size_t(receive.rank)].add({receive.peer, receive.tag, op});
    return message;
  }

  /// The receive that gets the message; none: it waits for one.
  [[gnu::always_inline]] std::optional<OpId> arrive(OpId op, const GoalOp& sent) {
    const auto receive = receives_[std::size_t(sent.peer)].take(sent.rank, sent.tag);
    if (!receive) unexpected_[std::size_t(sent.peer)].add({sent.rank, sent.tag, op});
    return receive;
  }

  /// Calls fetch(address) for what stands there of a rank.
  template <class Fetch>
  [[gnu::always_inline]] void expect(Rank rank, Fetch&& fetch) const {
    fetch(&receives_[std::size_t(rank)]);
    fetch(&unexpected_[std::size_t(rank)]);
  }

  /// What has found no other, in order of ranks.
  std::vector<Stuck> left(std::span<const PlacedOp> ops, const Costs& costs) const {
    std::vector<Stuck> left;
    for (std::size_t rank = 0; rank < receives_.size(); ++rank)
      for (const auto entries : {receives_[rank].entries(), unexpected_[rank].entries()})
        for (const MatchQueue::Entry& entry : entries)
          if (entry.op != MatchQueue::kTaken) left.push_back(as_stuck(ops[entry.op], costs));
    return left;
  }

 private:
  static Stuck as_stuck(const GoalOp& op, const Costs& costs) {
    const bool receive = op.kind == OpKind::kRecv;
    return {receive ? Stuck::Kind::kReceive : Stuck::Kind::kMessage,
            op.rank,
            op.peer,
            op.tag,
            op.amount,
            !receive && !costs.is_eager(op.amount)};
  }

  std::vector<MatchQueue> receives_;    ///< Posted, no message yet.
  std::vector<MatchQueue> unexpected_;  ///< Arrived before their receive.
};

}  // namespace idlewave::sim::network
