#include "workloads/sim/network/collectives.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace idlewave::sim::network {

namespace {

using support::CollectiveAlgorithm;
using support::CollectiveKind;

Rank power_of_two_up_to(Rank ranks) { return Rank(std::bit_floor(std::uint32_t(ranks))); }

std::uint32_t log2_up(Rank ranks) { return std::uint32_t(std::bit_width(std::uint32_t(ranks) - 1)); }

/// Sums without overflow, for ranks near the largest number.
Rank plus(Rank rank, Rank distance, Rank ranks) { return Rank((std::int64_t(rank) + distance + ranks) % ranks); }

/// Recursive doubling among the first 2 (ranks - power) ranks in pairs, of which the odd one takes part, and the others
/// alone.
class Folding {
 public:
  explicit Folding(Rank ranks) : members_(power_of_two_up_to(ranks)), pairs_(ranks - members_) {}

  std::uint32_t distances() const { return std::uint32_t(std::countr_zero(std::uint32_t(members_))); }
  bool is_folded(Rank rank) const { return rank < 2 * pairs_; }
  bool sits_out(Rank rank) const { return is_folded(rank) && rank % 2 == 0; }
  Rank member_of(Rank rank) const { return is_folded(rank) ? rank / 2 : rank - pairs_; }
  Rank rank_of(Rank member) const { return member < pairs_ ? 2 * member + 1 : member + pairs_; }

  /// How many ranks stand behind the aligned group of `size` members that holds `member`.
  Rank ranks_behind(Rank member, Rank size) const {
    const Rank first = member / size * size;
    return size + std::clamp(pairs_ - first, 0, size);
  }

 private:
  Rank members_;
  Rank pairs_;
};

/// The binomial tree of the root: a child's place is its parent's with one more low bit.
class Binomial {
 public:
  Binomial(Rank rank, Rank ranks, Rank root) : ranks_(ranks), root_(root), place_(plus(rank, -root, ranks)) {}

  bool is_root() const { return place_ == 0; }
  Rank parent() const { return plus(place_ & (place_ - 1), root_, ranks_); }
  int place_among_siblings() const { return std::countr_zero(std::uint32_t(place_)); }
  Rank subtree() const { return subtree_of(place_); }

  std::uint32_t children() const {
    const std::uint32_t fit = log2_up(ranks_ - place_);
    return is_root() ? fit : std::min(fit, std::uint32_t(place_among_siblings()));
  }
  Rank child(std::uint32_t n) const { return plus(place_ | Rank(1) << n, root_, ranks_); }  ///< Nearest first.
  Rank subtree_of_child(std::uint32_t n) const { return subtree_of(place_ | Rank(1) << n); }

 private:
  Rank subtree_of(Rank place) const { return place == 0 ? ranks_ : std::min(place & -place, ranks_ - place); }

  Rank ranks_;
  Rank root_;
  Rank place_;
};

Round backwards(const Round& round) { return {round.from, round.receive_bytes, 0, round.to, round.send_bytes, 0}; }

Collective allreduce_by(CollectiveAlgorithm algorithm) {
  if (algorithm == CollectiveAlgorithm::kRing) return Collective::kAllreduceRing;
  if (algorithm == CollectiveAlgorithm::kRecursiveDoubling) return Collective::kAllreduceRecursiveDoubling;
  return Collective::kAllreduceDissemination;
}

Collective allgather_by(CollectiveAlgorithm algorithm) {
  if (algorithm == CollectiveAlgorithm::kRing) return Collective::kAllgatherRing;
  if (algorithm == CollectiveAlgorithm::kRecursiveDoubling) return Collective::kAllgatherRecursiveDoubling;
  if (algorithm == CollectiveAlgorithm::kBruck) return Collective::kAllgatherBruck;
  return Collective::kAllgatherDissemination;
}

Collective algorithm_of(const support::CollectiveOfStep& collective) {
  switch (collective.kind) {
    case CollectiveKind::kAllreduce: return allreduce_by(collective.algorithm);
    case CollectiveKind::kAllgather: return allgather_by(collective.algorithm);
    case CollectiveKind::kBroadcast: return Collective::kBroadcast;
    case CollectiveKind::kReduce: return Collective::kReduce;
    case CollectiveKind::kGather: return Collective::kGather;
    case CollectiveKind::kScatter: return Collective::kScatter;
    case CollectiveKind::kBarrier: break;
  }
  return Collective::kBarrier;
}

}  // namespace

CollectiveCall call_of(const support::Communication& communication) {
  const support::CollectiveOfStep& collective = *communication.collective;
  return {algorithm_of(collective), communication.message_size, collective.root};
}

CollectiveRounds::CollectiveRounds(const CollectiveCall& call, Rank ranks) : call_(call), ranks_(ranks) {
  assert(ranks > 0 && call.root >= 0 && call.root < ranks);
  if (call.algorithm == Collective::kBarrier) call_.bytes = 1;
}

std::uint32_t CollectiveRounds::count(Rank rank) const {
  if (ranks_ == 1) return 0;
  switch (call_.algorithm) {
    case Collective::kBarrier:
    case Collective::kAllreduceDissemination:
    case Collective::kAllgatherBruck:
    case Collective::kAllgatherDissemination: return log2_up(ranks_);
    case Collective::kAllreduceRecursiveDoubling:
    case Collective::kAllgatherRecursiveDoubling: {
      const Folding folding(ranks_);
      return folding.sits_out(rank) ? 2 : folding.distances() + (folding.is_folded(rank) ? 2 : 0);
    }
    case Collective::kAllreduceRing: return 2 * std::uint32_t(ranks_ - 1);
    case Collective::kAllgatherRing: return std::uint32_t(ranks_ - 1);
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kScatter: break;
  }
  const Binomial tree(rank, ranks_, call_.root);
  return tree.children() + (tree.is_root() ? 0 : 1);
}

Round CollectiveRounds::at(Rank rank, std::uint32_t round) const {
  switch (call_.algorithm) {
    case Collective::kBarrier:
    case Collective::kAllreduceDissemination:
    case Collective::kAllgatherBruck:
    case Collective::kAllgatherDissemination: return dissemination(rank, round);
    case Collective::kAllreduceRecursiveDoubling:
    case Collective::kAllgatherRecursiveDoubling: return doubling(rank, round);
    case Collective::kAllreduceRing:
    case Collective::kAllgatherRing: {
      const auto parts = std::uint64_t(call_.algorithm == Collective::kAllreduceRing ? ranks_ : 1);
      const std::uint64_t bytes = call_.bytes / parts + (call_.bytes % parts != 0);
      return {plus(rank, 1, ranks_), bytes, 0, plus(rank, -1, ranks_), bytes, 0};
    }
    case Collective::kReduce:
    case Collective::kGather: return from_leaves(rank, round);
    case Collective::kBroadcast:
    case Collective::kScatter: break;
  }
  return backwards(from_leaves(rank, count(rank) - 1 - round));
}

Round CollectiveRounds::dissemination(Rank rank, std::uint32_t round) const {
  const Rank distance = Rank(1) << round;
  const bool doubles = call_.algorithm == Collective::kAllgatherBruck;
  const std::uint64_t bytes =
      doubles ? call_.bytes * std::uint64_t(std::min(distance, ranks_ - distance)) : call_.bytes;
  return {plus(rank, distance, ranks_), bytes, int(round), plus(rank, -distance, ranks_), bytes, int(round)};
}

/// Lane 0 is for the fold, in or out; lane 1 + n for the exchange over distance 2^n.
Round CollectiveRounds::doubling(Rank rank, std::uint32_t round) const {
  const Folding folding(ranks_);
  const bool gathers = call_.algorithm == Collective::kAllgatherRecursiveDoubling;
  const std::uint64_t whole = gathers ? call_.bytes * std::uint64_t(ranks_) : call_.bytes;
  if (folding.sits_out(rank)) {
    if (round == 0) return {.to = rank + 1, .send_bytes = call_.bytes};
    return {.from = rank + 1, .receive_bytes = whole};
  }
  if (!folding.is_folded(rank)) return doubling_member(rank, int(round) + 1);
  if (round == 0) return {.from = rank - 1, .receive_bytes = call_.bytes};
  if (round > folding.distances()) return {.to = rank - 1, .send_bytes = whole};
  return doubling_member(rank, int(round));
}

/// A member sends what it has after the exchange with all that are nearer.
Round CollectiveRounds::doubling_member(Rank rank, int lane) const {
  const Folding folding(ranks_);
  const Rank member = folding.member_of(rank), distance = Rank(1) << (lane - 1), other = member ^ distance;
  const Rank peer = folding.rank_of(other);
  const bool gathers = call_.algorithm == Collective::kAllgatherRecursiveDoubling;
  const auto held = [&](Rank of) {
    return gathers ? call_.bytes * std::uint64_t(folding.ranks_behind(of, distance)) : call_.bytes;
  };
  return {peer, held(member), lane, peer, held(other), lane};
}

/// A message holds one block for each rank of the subtree, or the one vector. Of broadcast and scatter it is the same
/// backwards, the largest subtree first.
Round CollectiveRounds::from_leaves(Rank rank, std::uint32_t round) const {
  const Binomial tree(rank, ranks_, call_.root);
  const bool blocks = call_.algorithm == Collective::kGather || call_.algorithm == Collective::kScatter;
  const auto size = [&](Rank subtree) { return blocks ? call_.bytes * std::uint64_t(subtree) : call_.bytes; };
  if (round < tree.children())
    return {.from = tree.child(round), .receive_bytes = size(tree.subtree_of_child(round)), .lane = int(round)};
  return {.to = tree.parent(), .send_bytes = size(tree.subtree()), .to_lane = tree.place_among_siblings()};
}

Round CollectiveRounds::first_of_lane(Rank rank, int lane) const {
  switch (call_.algorithm) {
    case Collective::kAllreduceRecursiveDoubling:
    case Collective::kAllgatherRecursiveDoubling: {
      const Folding folding(ranks_);
      if (folding.sits_out(rank)) return doubling(rank, 1);
      return doubling(rank, std::uint32_t(folding.is_folded(rank) ? lane : lane - 1));
    }
    case Collective::kBarrier:
    case Collective::kAllreduceDissemination:
    case Collective::kAllreduceRing:
    case Collective::kAllgatherRing:
    case Collective::kAllgatherBruck:
    case Collective::kAllgatherDissemination:
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kScatter: break;
  }
  return at(rank, std::uint32_t(lane));
}

RankPrograms::RankPrograms(Rank ranks, Tag first_tag)
    : builder_(ranks), last_(std::size_t(ranks)), next_tag_(first_tag) {}

void RankPrograms::calc(Rank rank, std::uint64_t nanoseconds) {
  auto& last = last_[std::size_t(rank)];
  last = {follow(builder_.calc(rank, nanoseconds), last)};
}

void RankPrograms::calc_all(std::uint64_t nanoseconds) {
  for (Rank rank = 0; rank < builder_.ranks(); ++rank) calc(rank, nanoseconds);
}

void RankPrograms::call(const CollectiveCall& call) { last_ = start(call).last_; }

RankPrograms::Pending RankPrograms::start(const CollectiveCall& call) {
  const CollectiveRounds rounds(call, builder_.ranks());
  Pending pending;
  pending.last_ = last_;
  const Tag tag = next_tag_++;
  for (Rank rank = 0; rank < builder_.ranks(); ++rank) {
    auto& last = pending.last_[std::size_t(rank)];
    for (std::uint32_t i = 0; i < rounds.count(rank); ++i) {
      const Round round = rounds.at(rank, i);
      std::vector<OpId> now;
      if (round.to != kNobody) now.push_back(follow(builder_.send(rank, round.send_bytes, round.to, tag), last));
      if (round.from != kNobody) now.push_back(follow(builder_.recv(rank, round.receive_bytes, round.from, tag), last));
      last = std::move(now);
    }
  }
  return pending;
}

void RankPrograms::wait(const Pending& pending) {
  for (std::size_t rank = 0; rank < last_.size(); ++rank)
    for (const OpId op : pending.last_[rank])
      if (std::find(last_[rank].begin(), last_[rank].end(), op) == last_[rank].end()) last_[rank].push_back(op);
}

OpId RankPrograms::follow(OpId op, const std::vector<OpId>& before) {
  for (const OpId earlier : before) builder_.after(op, earlier);
  return op;
}

}  // namespace idlewave::sim::network
