#include "workloads/sim/network/extrapolate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <unordered_map>

namespace idlewave::sim::network {

namespace {

std::vector<Round> rounds_of(const CollectiveCall& call, Rank rank, Rank ranks) {
  const CollectiveRounds rounds(call, ranks);
  std::vector<Round> all;
  for (std::uint32_t i = 0; i < rounds.count(rank); ++i) all.push_back(rounds.at(rank, i));
  return all;
}

constexpr Rank kMaxRanks = 100'000'000;
constexpr Rank kFewestRanks = 3;  ///< In which an exchange tells whether it is a collective.
constexpr OpId kStart = GoalSchedule::kWaitsForStart;

/// For whom each operation waits, ascending.
class Predecessors {
 public:
  explicit Predecessors(const GoalSchedule& schedule) : first_(schedule.ops().size() + 1) {
    const auto ops = OpId(schedule.ops().size());
    for (OpId op = 0; op < ops; ++op) first_[op + 1] = first_[op] + schedule.waits().of(op);
    earlier_.resize(first_.back());
    std::vector<std::uint32_t> filled(first_.begin(), first_.end() - 1);
    for (OpId op = 0; op < ops; ++op)
      for (const OpId dependent : schedule.dependents(op))
        earlier_[filled[dependent & ~kStart]++] = op | (dependent & kStart);
  }

  /// With kWaitsForStart where only the start is needed.
  std::span<const OpId> of(OpId op) const {
    return std::span(earlier_).subspan(first_[op], first_[op + 1] - first_[op]);
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<OpId> earlier_;
};

class Finder {
 public:
  explicit Finder(const GoalSchedule& schedule) : schedule_(schedule), ops_(schedule.ops()), before_(schedule) {
    found_.of_op.assign(ops_.size(), FoundCollectives::kNone);
  }

  FoundCollectives find() {
    for (OpId op = 0; op < ops_.size(); ++op)
      if (ops_[op].kind != OpKind::kCalc) messages_.push_back(op);
    const auto tag_of = [&](OpId op) { return ops_[op].tag; };
    std::ranges::stable_sort(messages_, {}, tag_of);
    for (std::size_t i = 0; i < messages_.size();) {
      const auto end = std::ranges::upper_bound(std::span(messages_).subspan(i), tag_of(messages_[i]), {}, tag_of);
      const auto count = std::size_t(std::distance(std::span(messages_).subspan(i).begin(), end));
      find_in(std::span(messages_).subspan(i, count));
      i += count;
    }
    return std::move(found_);
  }

 private:
  using Ops = std::span<const OpId>;
  Rank ranks() const { return schedule_.ranks(); }

  /// `group`: messages of one tag, by rank.
  void find_in(Ops group) {
    next_.assign(std::size_t(ranks()), {});
    for (std::size_t i = 0; i < group.size();) {
      const Rank rank = ops_[group[i]].rank;
      std::size_t end = i;
      while (end < group.size() && ops_[group[end]].rank == rank) ++end;
      next_[std::size_t(rank)] = group.subspan(i, end - i);
      i = end;
    }
    while (std::ranges::none_of(next_, [](Ops ops) { return ops.empty(); }))
      if (const auto call = collective_here())
        take(*call);
      else
        for (Ops& ops : next_) ops = ops.subspan(1);
  }

  const PlacedOp& first_of(Rank rank) const { return ops_[next_[std::size_t(rank)].front()]; }

  std::optional<CollectiveCall> collective_here() {
    const std::uint64_t bytes = first_of(0).amount;
    const auto is_here = [&](const CollectiveCall& call) { return is_all_of(call); };
    for (const CollectiveCall& call : {CollectiveCall{Collective::kAllreduceDissemination, bytes},
                                       CollectiveCall{Collective::kAllreduceRecursiveDoubling, bytes},
                                       CollectiveCall{Collective::kAllgatherRecursiveDoubling, bytes},
                                       CollectiveCall{Collective::kAllgatherBruck, bytes},
                                       CollectiveCall{Collective::kAllreduceRing, bytes * std::uint64_t(ranks())},
                                       CollectiveCall{Collective::kAllgatherRing, bytes}})
      if (is_here(call)) return call;
    if (const auto call = tree_from_root()) return call;
    return tree_to_root();
  }

  /// The only one that begins with a send is the root. Next to it stands a leaf.
  std::optional<CollectiveCall> tree_from_root() {
    Rank root = kNobody;
    for (Rank rank = 0; rank < ranks(); ++rank) {
      if (first_of(rank).kind != OpKind::kSend) continue;
      if (root != kNobody) return std::nullopt;
      root = rank;
    }
    return root == kNobody ? std::nullopt : one_of(Collective::kBroadcast, Collective::kScatter, root);
  }

  std::optional<CollectiveCall> tree_to_root() {
    for (Rank root = 0; root < ranks(); ++root) {
      const PlacedOp& leaf = first_of(next_to(root));
      if (leaf.kind != OpKind::kSend || leaf.peer != root || first_of(root).kind != OpKind::kRecv) continue;
      if (const auto call = one_of(Collective::kReduce, Collective::kGather, root)) return call;
    }
    return std::nullopt;
  }

  std::optional<CollectiveCall> one_of(Collective a, Collective b, Rank root) {
    const std::uint64_t bytes = first_of(next_to(root)).amount;
    for (const Collective algorithm : {a, b})
      if (const CollectiveCall call{algorithm, bytes, root}; is_all_of(call)) return call;
    return std::nullopt;
  }

  Rank next_to(Rank rank) const { return rank + 1 == ranks() ? 0 : rank + 1; }

  /// From the root on: what is none shows there.
  bool is_all_of(const CollectiveCall& call) {
    for (Rank i = 0; i < ranks(); ++i) {
      const auto rank = Rank((std::int64_t(call.root) + i) % ranks());
      rounds_ = rounds_of(call, rank, ranks());
      if (!are_rounds(next_[std::size_t(rank)])) return false;
    }
    return true;
  }

  bool are_rounds(Ops ops) const {
    std::size_t place = 0;
    for (const Round& round : rounds_) {
      const std::size_t count = ops_in(round);
      if (ops.size() - place < count) return false;
      const Ops now = ops.subspan(place, count);
      const bool same = std::ranges::all_of(now, [&](OpId op) { return is_of(ops_[op], round, ops_[ops[0]].units); });
      if (!same || (count == 2 && ops_[now[0]].kind == ops_[now[1]].kind)) return false;
      for (const OpId op : now)
        if (place > 0 && !waits_only_for(op, ops.first(place))) return false;
      place += count;
    }
    return true;
  }

  static std::size_t ops_in(const Round& round) { return std::size_t(round.to != kNobody) + (round.from != kNobody); }

  static bool is_of(const GoalOp& op, const Round& round, Units units) {
    if (op.units.cpu != units.cpu || op.units.nic != units.nic) return false;
    return op.kind == OpKind::kSend ? op.peer == round.to && op.amount == round.send_bytes
                                    : op.peer == round.from && op.amount == round.receive_bytes;
  }

  bool waits_only_for(OpId op, Ops others) const {
    const Ops earlier = before_.of(op);
    return (!earlier.empty() || ops_[op].kind == OpKind::kRecv) &&
           std::ranges::all_of(earlier, [&](OpId e) { return std::ranges::binary_search(others, e); });
  }

  void take(const CollectiveCall& call) {
    const auto number = std::uint32_t(found_.calls.size());
    found_.calls.push_back(call);
    for (Rank rank = 0; rank < ranks(); ++rank) {
      rounds_ = rounds_of(call, rank, ranks());
      std::size_t count = 0;
      for (const Round& round : rounds_) count += ops_in(round);
      Ops& ops = next_[std::size_t(rank)];
      for (const OpId op : ops.first(count)) found_.of_op[op] = number;
      ops = ops.subspan(count);
    }
  }

  const GoalSchedule& schedule_;
  std::span<const PlacedOp> ops_;
  Predecessors before_;
  std::vector<OpId> messages_;
  std::vector<Ops> next_;  ///< Of each rank: messages of the tag at hand that were not looked at yet.
  std::vector<Round> rounds_;
  FoundCollectives found_;
};

/// The shorter way round a ring: in (-ranks / 2, ranks / 2].
Rank shortest(Rank distance, Rank ranks) {
  const auto forward = Rank(((std::int64_t(distance) % ranks) + ranks) % ranks);
  return forward > ranks / 2 ? forward - ranks : forward;
}

/// One rank's program after another's.
class Extrapolator {
 public:
  Extrapolator(const GoalSchedule& schedule, const FoundCollectives& found, Rank factor)
      : old_(schedule), ops_(schedule.ops()), found_(found), before_(schedule), builder_(schedule.ranks() * factor) {}

  wire::Result<GoalSchedule> build(double ops) {
    builder_.reserve(std::size_t(ops), before_total());
    std::vector<OpId> begins(std::size_t(old_.ranks()) + 1, OpId(ops_.size()));
    for (OpId op = OpId(ops_.size()); op-- > 0;) begins[std::size_t(ops_[op].rank)] = op;
    for (std::size_t rank = begins.size() - 1; rank-- > 0;)
      if (begins[rank] == ops_.size() || ops_[begins[rank]].rank != Rank(rank)) begins[rank] = begins[rank + 1];
    for (Rank rank = 0; rank < builder_.ranks(); ++rank) {
      const auto from = std::size_t(rank % old_.ranks());
      write(rank, begins[from], begins[from + 1]);
    }
    return std::move(builder_).build();
  }

 private:
  /// A collective on the rank at hand.
  struct Written {
    std::vector<std::vector<OpId>> rounds;
    std::vector<OpId> instead_of;  ///< Operations of the old schedule, ascending.
  };

  std::size_t before_total() const {
    std::size_t sum = 0;
    for (OpId op = 0; op < old_.ops().size(); ++op) sum += old_.waits().of(op);
    return sum * std::size_t(builder_.ranks() / old_.ranks());
  }

  void write(Rank rank, OpId begin, OpId end) {
    begin_ = begin;
    new_.assign(end - begin, 0);
    written_.clear();
    for (OpId op = begin; op < end; ++op) {
      const std::uint32_t number = found_.of_op[op];
      if (number == FoundCollectives::kNone) {
        new_[op - begin] = copy(rank, ops_[op]);
        continue;
      }
      const auto [place, is_first] = written_.try_emplace(number);
      if (is_first) place->second.rounds = write_collective(rank, found_.calls[number], ops_[op]);
      place->second.instead_of.push_back(op);
    }
    for (OpId op = begin; op < end; ++op) link(op);
  }

  OpId copy(Rank rank, const GoalOp& op) {
    switch (op.kind) {
      case OpKind::kSend:
        return builder_.send(rank, op.amount, away(rank, shortest(op.peer - op.rank, old_.ranks())), op.tag, op.units);
      case OpKind::kRecv: {
        const Rank from = op.peer == kAnySource ? kAnySource : away(rank, -shortest(op.rank - op.peer, old_.ranks()));
        return builder_.recv(rank, op.amount, from, op.tag, op.units);
      }
      case OpKind::kCalc: break;
    }
    return op.idle ? builder_.idle(rank, op.amount, op.tag) : builder_.calc(rank, op.amount, op.units, op.tag);
  }

  Rank away(Rank rank, Rank distance) const {
    return Rank((std::int64_t(rank) + distance + builder_.ranks()) % builder_.ranks());
  }

  std::vector<std::vector<OpId>> write_collective(Rank rank, const CollectiveCall& call, const GoalOp& like) {
    std::vector<std::vector<OpId>> written;
    rounds_ = rounds_of(call, rank, builder_.ranks());
    for (const Round& round : rounds_) {
      auto& now = written.emplace_back();
      if (round.to != kNobody) now.push_back(builder_.send(rank, round.send_bytes, round.to, like.tag, like.units));
      if (round.from != kNobody)
        now.push_back(builder_.recv(rank, round.receive_bytes, round.from, like.tag, like.units));
    }
    return written;
  }

  void link(OpId op) {
    const std::uint32_t number = found_.of_op[op];
    if (number == FoundCollectives::kNone) return link(new_[op - begin_], before_.of(op));
    const Written& written = written_.at(number);
    if (op != written.instead_of.front()) return;
    const auto outside = before_collective(written, number);
    for (const OpId first : written.rounds.front()) link(first, outside);
    for (std::size_t i = 1; i < written.rounds.size(); ++i)
      for (const OpId later : written.rounds[i])
        for (const OpId earlier : written.rounds[i - 1]) builder_.after(later, earlier);
  }

  /// What any part of the collective waits for outside of it.
  std::vector<OpId> before_collective(const Written& written, std::uint32_t number) const {
    std::vector<OpId> outside;
    for (const OpId op : written.instead_of)
      for (const OpId earlier : before_.of(op))
        if (found_.of_op[earlier & ~kStart] != number && std::ranges::find(outside, earlier) == outside.end())
          outside.push_back(earlier);
    return outside;
  }

  void link(OpId later, std::span<const OpId> before) {
    std::vector<std::uint32_t> collectives;
    for (const OpId earlier : before) {
      const OpId op = earlier & ~kStart;
      const std::uint32_t number = found_.of_op[op];
      if (number == FoundCollectives::kNone) {
        earlier& kStart ? builder_.after_start(later, new_[op - begin_]) : builder_.after(later, new_[op - begin_]);
      } else if (std::ranges::find(collectives, number) == collectives.end()) {
        collectives.push_back(number);
        for (const OpId last : written_.at(number).rounds.back()) builder_.after(later, last);
      }
    }
  }

  const GoalSchedule& old_;
  std::span<const PlacedOp> ops_;
  const FoundCollectives& found_;
  Predecessors before_;
  GoalBuilder builder_;
  OpId begin_ = 0;         ///< Of the rank at hand in the old schedule.
  std::vector<OpId> new_;  ///< Of its operations that are no collective's.
  std::unordered_map<std::uint32_t, Written> written_;
  std::vector<Round> rounds_;
};

/// Operations on all ranks together.
double ops_of(Collective algorithm, double p) {
  switch (algorithm) {
    case Collective::kAllreduceRing: return 4 * p * (p - 1);
    case Collective::kAllgatherRing: return 2 * p * (p - 1);
    default: return 2 * p * (std::log2(p) + 2);
  }
}

double largest_message(const CollectiveCall& call, Rank ranks) {
  const bool grows = call.algorithm == Collective::kGather || call.algorithm == Collective::kScatter ||
                     call.algorithm == Collective::kAllgatherRecursiveDoubling ||
                     call.algorithm == Collective::kAllgatherBruck;
  return call.algorithm == Collective::kAllreduceRing ? 0 : double(call.bytes) * (grows ? ranks : 1);
}

}  // namespace

FoundCollectives find_collectives(const GoalSchedule& schedule) {
  if (schedule.ranks() < kFewestRanks)
    return {{}, std::vector<std::uint32_t>(schedule.ops().size(), FoundCollectives::kNone)};
  return Finder(schedule).find();
}

double ops_of_extrapolation(const GoalSchedule& schedule, const FoundCollectives& found, Rank factor) {
  double ops = double(std::ranges::count(found.of_op, FoundCollectives::kNone)) * factor;
  for (const CollectiveCall& call : found.calls) ops += ops_of(call.algorithm, double(schedule.ranks()) * factor);
  return ops;
}

wire::Result<GoalSchedule> extrapolate(const GoalSchedule& schedule, const FoundCollectives& found, Rank factor) {
  assert(found.of_op.size() == schedule.ops().size());
  if (factor < 1 || std::int64_t(schedule.ranks()) * factor > kMaxRanks)
    return wire::Error{fmt::format("extrapolate: {} times {} ranks; from 1 to {} ranks are possible", factor,
                                   schedule.ranks(), kMaxRanks)};
  for (const CollectiveCall& call : found.calls)
    if (largest_message(call, schedule.ranks() * factor) > double(kMaxMessageBytes))
      return wire::Error{fmt::format("extrapolate: a collective of {} B a rank has messages of more than {} B",
                                     call.bytes, kMaxMessageBytes)};
  const double ops = ops_of_extrapolation(schedule, found, factor);
  if (ops > double(kMaxOps))
    return wire::Error{fmt::format("extrapolate: about {:.3g} operations; at most {} are possible", ops, kMaxOps)};
  return Extrapolator(schedule, found, factor).build(ops);
}

}  // namespace idlewave::sim::network
