#include "workloads/sim/network/collectives.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace idlewave::sim {

namespace {

using Rounds = std::vector<Round>;

Round sends(Rank to, std::uint64_t bytes) { return {to, bytes}; }
Round receives(Rank from, std::uint64_t bytes) { return {kNobody, 0, from, bytes}; }

Rank power_of_two_up_to(Rank ranks) { return Rank(std::bit_floor(std::uint32_t(ranks))); }

/// Sums without overflow, for ranks near the largest number.
Rank plus(Rank rank, Rank distance, Rank ranks) { return Rank((std::int64_t(rank) + distance + ranks) % ranks); }

void dissemination(Rank rank, Rank ranks, std::uint64_t bytes, Rounds& rounds) {
  for (std::int64_t distance = 1; distance < ranks; distance *= 2)
    rounds.push_back({plus(rank, Rank(distance), ranks), bytes, plus(rank, Rank(-distance), ranks), bytes});
}

void ring(Rank rank, Rank ranks, Rank count, std::uint64_t bytes, Rounds& rounds) {
  for (Rank round = 0; round < count; ++round)
    rounds.push_back({plus(rank, 1, ranks), bytes, plus(rank, -1, ranks), bytes});
}

/// Recursive doubling among the first 2 (ranks - power) ranks in pairs, of which the odd one takes part, and the others
/// alone; `held(member, distance)`: what a member sends when it has exchanged with all nearer than distance.
class Folding {
 public:
  explicit Folding(Rank ranks) : members_(power_of_two_up_to(ranks)), pairs_(ranks - members_) {}

  Rank members() const { return members_; }
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

template <class Held>
void recursive_doubling(Rank rank, Rank ranks, std::uint64_t bytes, std::uint64_t whole, Held held, Rounds& rounds) {
  const Folding folding(ranks);
  if (folding.sits_out(rank)) {
    rounds.push_back(sends(rank + 1, bytes));
    rounds.push_back(receives(rank + 1, whole));
    return;
  }
  if (folding.is_folded(rank)) rounds.push_back(receives(rank - 1, bytes));
  const Rank member = folding.member_of(rank);
  for (Rank distance = 1; distance < folding.members(); distance *= 2) {
    const Rank other = member ^ distance;
    const Rank peer = folding.rank_of(other);
    rounds.push_back({peer, held(folding, member, distance), peer, held(folding, other, distance)});
  }
  if (folding.is_folded(rank)) rounds.push_back(sends(rank - 1, whole));
}

/// The binomial tree of the root: a child's place is its parent's with one more low bit.
class Binomial {
 public:
  Binomial(Rank rank, Rank ranks, Rank root) : ranks_(ranks), root_(root), place_(plus(rank, -root, ranks)) {}

  bool is_root() const { return place_ == 0; }
  Rank parent() const { return plus(place_ & (place_ - 1), root_, ranks_); }
  Rank subtree() const { return subtree_of(place_); }

  /// Nearest first: (rank, ranks in its subtree).
  template <class Use>
  void for_each_child(Use use) const {
    for (std::int64_t bit = 1; place_ + bit < ranks_ && (place_ & bit) == 0; bit *= 2)
      use(plus(Rank(place_ + bit), root_, ranks_), subtree_of(Rank(place_ + bit)));
  }

 private:
  Rank subtree_of(Rank place) const { return place == 0 ? ranks_ : std::min(place & -place, ranks_ - place); }

  Rank ranks_;
  Rank root_;
  Rank place_;
};

/// `blocks`: a message holds one block for each rank of the subtree.
void from_leaves(const Binomial& tree, std::uint64_t bytes, bool blocks, Rounds& rounds) {
  const auto size = [&](Rank subtree) { return blocks ? bytes * std::uint64_t(subtree) : bytes; };
  tree.for_each_child([&](Rank child, Rank subtree) { rounds.push_back(receives(child, size(subtree))); });
  if (!tree.is_root()) rounds.push_back(sends(tree.parent(), size(tree.subtree())));
}

/// The same backwards: the largest subtree first.
void from_root(const Binomial& tree, std::uint64_t bytes, bool blocks, Rounds& rounds) {
  from_leaves(tree, bytes, blocks, rounds);
  std::reverse(rounds.begin(), rounds.end());
  for (Round& round : rounds) std::swap(round.to, round.from), std::swap(round.send_bytes, round.recv_bytes);
}

}  // namespace

void rounds_of(const CollectiveCall& call, Rank rank, Rank ranks, Rounds& rounds) {
  rounds.clear();
  if (ranks == 1) return;
  const std::uint64_t bytes = call.bytes;
  const Binomial tree(rank, ranks, call.root);
  switch (call.algorithm) {
    case Collective::kBarrier:
      return dissemination(rank, ranks, 1, rounds);
    case Collective::kAllreduceDissemination:
      return dissemination(rank, ranks, bytes, rounds);
    case Collective::kAllreduceRecursiveDoubling:
      return recursive_doubling(
          rank, ranks, bytes, bytes, [&](auto&, Rank, Rank) { return bytes; }, rounds);
    case Collective::kAllreduceRing:
      return ring(rank, ranks, 2 * (ranks - 1), (bytes + std::uint64_t(ranks) - 1) / std::uint64_t(ranks), rounds);
    case Collective::kAllgatherRing:
      return ring(rank, ranks, ranks - 1, bytes, rounds);
    case Collective::kAllgatherRecursiveDoubling:
      return recursive_doubling(
          rank, ranks, bytes, bytes * std::uint64_t(ranks),
          [&](const Folding& f, Rank member, Rank distance) {
            return bytes * std::uint64_t(f.ranks_behind(member, distance));
          },
          rounds);
    case Collective::kBroadcast:
      return from_root(tree, bytes, false, rounds);
    case Collective::kReduce:
      return from_leaves(tree, bytes, false, rounds);
    case Collective::kGather:
      return from_leaves(tree, bytes, true, rounds);
    case Collective::kScatter:
      return from_root(tree, bytes, true, rounds);
  }
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
  assert(call.root >= 0 && call.root < builder_.ranks());
  Pending pending;
  pending.last_ = last_;
  const Tag tag = next_tag_++;
  Rounds rounds;
  for (Rank rank = 0; rank < builder_.ranks(); ++rank) {
    rounds_of(call, rank, builder_.ranks(), rounds);
    auto& last = pending.last_[std::size_t(rank)];
    for (const Round& round : rounds) {
      std::vector<OpId> now;
      if (round.to != kNobody) now.push_back(follow(builder_.send(rank, round.send_bytes, round.to, tag), last));
      if (round.from != kNobody) now.push_back(follow(builder_.recv(rank, round.recv_bytes, round.from, tag), last));
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

}  // namespace idlewave::sim
