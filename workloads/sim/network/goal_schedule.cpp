#include "workloads/sim/network/goal_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>

namespace idlewave::sim::network {

namespace {

constexpr OpId kAfterStart = GoalSchedule::kWaitsForStart;

OpId later_of(const Dependence& dependence) { return dependence.later & ~kAfterStart; }

OpId end_of(std::span<const Dependence> dependences) {
  OpId end = 0;
  for (const Dependence& d : dependences) end = std::max({end, d.earlier + 1, later_of(d) + 1});
  return end;
}

/// Takes away what waits for nothing, again and again; what is left waits for a cycle or is in one.
std::vector<std::uint32_t> waits_left(std::span<const Dependence> dependences, OpId ops) {
  std::vector<std::uint32_t> waits(ops), first(ops + 1), later(dependences.size());
  for (const Dependence& d : dependences) ++waits[later_of(d)], ++first[d.earlier];
  for (std::uint32_t sum = 0; std::uint32_t & f : first) f = (sum += f);
  for (const Dependence& d : dependences) later[--first[d.earlier]] = later_of(d);
  std::vector<OpId> free;
  for (OpId op = 0; op < ops; ++op)
    if (waits[op] == 0) free.push_back(op);
  while (!free.empty()) {
    const OpId op = free.back();
    free.pop_back();
    for (std::uint32_t i = first[op]; i < first[op + 1]; ++i)
      if (--waits[later[i]] == 0) free.push_back(later[i]);
  }
  return waits;
}

/// From one that is left to one it waits for, until one comes again.
std::vector<OpId> walk_cycle(const std::vector<OpId>& waits_for, OpId from) {
  std::vector<OpId> path;
  for (OpId op = from;; op = waits_for[op]) {
    const auto seen = std::find(path.begin(), path.end(), op);
    if (seen != path.end()) return {seen, path.end()};
    path.push_back(op);
  }
}

}  // namespace

std::vector<OpId> find_cycle(std::span<const Dependence> dependences) {
  const OpId ops = end_of(dependences);
  const auto waits = waits_left(dependences, ops);
  const auto left = std::find_if(waits.begin(), waits.end(), [](std::uint32_t n) { return n != 0; });
  if (left == waits.end()) return {};
  std::vector<OpId> waits_for(ops);
  for (const Dependence& d : dependences)
    if (waits[d.earlier] != 0) waits_for[later_of(d)] = d.earlier;
  return walk_cycle(waits_for, OpId(left - waits.begin()));
}

GoalBuilder::GoalBuilder(Rank ranks) {
  assert(ranks > 0);
  schedule_.ranks_ = ranks;
}

OpId GoalBuilder::calc(Rank rank, std::uint64_t nanoseconds, Units units, Tag tag) {
  assert(nanoseconds <= kMaxCalcNs);
  return add({nanoseconds, rank, 0, tag, OpKind::kCalc, units});
}

OpId GoalBuilder::idle(Rank rank, std::uint64_t nanoseconds, Tag tag) {
  assert(nanoseconds <= kMaxCalcNs);
  return add({nanoseconds, rank, 0, tag, OpKind::kCalc, {}, true});
}

OpId GoalBuilder::send(Rank rank, std::uint64_t bytes, Rank to, Tag tag, Units units) {
  assert(bytes <= kMaxMessageBytes && to >= 0 && to < ranks());
  return add({bytes, rank, to, tag, OpKind::kSend, units});
}

OpId GoalBuilder::recv(Rank rank, std::uint64_t bytes, Rank from, Tag tag, Units units) {
  assert(bytes <= kMaxMessageBytes && from >= kAnySource && from < ranks());
  return add({bytes, rank, from, tag, OpKind::kRecv, units});
}

void GoalBuilder::after(OpId later, OpId earlier) { depend({earlier, later}); }

void GoalBuilder::after_start(OpId later, OpId earlier) { depend({earlier, later | kAfterStart}); }

void GoalBuilder::reserve(std::size_t ops, std::size_t dependences) {
  schedule_.ops_.reserve(ops);
  dependences_.reserve(dependences);
}

OpId GoalBuilder::add(const GoalOp& op) {
  assert(op.rank >= 0 && op.rank < ranks());
  auto& ops = schedule_.ops_;
  sorted_ = sorted_ && (ops.empty() || ops.back().rank <= op.rank);
  schedule_.cpus_ = std::max(schedule_.cpus_, op.units.cpu + 1);
  schedule_.nics_ = std::max(schedule_.nics_, op.units.nic + 1);
  ops.emplace_back(op);
  return OpId(ops.size() - 1);
}

void GoalBuilder::depend(Dependence dependence) {
  assert(schedule_.ops_[dependence.earlier].rank == schedule_.ops_[later_of(dependence)].rank);
  ascending_ = ascending_ && dependence.earlier < later_of(dependence);
  dependences_.push_back(dependence);
}

wire::Result<GoalSchedule> GoalBuilder::build() && {
  if (size() > kMaxOps) return wire::Error{fmt::format("{} operations: at most {} are possible", size(), kMaxOps)};
  if (const auto cycle = ascending_ ? std::vector<OpId>{} : find_cycle(dependences_); !cycle.empty())
    return wire::Error{fmt::format("rank {}: {} operations wait for each other in a circle",
                                   schedule_.ops_[cycle.front()].rank, cycle.size())};
  if (!sorted_) sort_by_rank();
  list_dependents();
  sum_up();
  return std::move(schedule_);
}

/// A counting sort: the operations of one rank stay in their order.
void GoalBuilder::sort_by_rank() {
  auto& ops = schedule_.ops_;
  std::vector<OpId> next(std::size_t(ranks()) + 1), place(ops.size());
  for (const GoalOp& op : ops) ++next[std::size_t(op.rank) + 1];
  for (std::size_t rank = 1; rank < next.size(); ++rank) next[rank] += next[rank - 1];
  GoalSchedule::Ops sorted(ops.size());
  for (OpId op = 0; op < ops.size(); ++op) sorted[place[op] = next[std::size_t(ops[op].rank)]++] = ops[op];
  ops = std::move(sorted);
  for (Dependence& d : dependences_) d = {place[d.earlier], place[later_of(d)] | (d.later & kAfterStart)};
}

void GoalBuilder::list_dependents() {
  schedule_.waits_ = WaitCounts(size());
  for (const Dependence& d : dependences_) schedule_.waits_.add(later_of(d));
  make_lists();
  for (const OpId kind : {kAfterStart, OpId{0}})
    for (const Dependence& d : dependences_)
      if ((d.later & kAfterStart) == kind) list(d);
}

void GoalBuilder::sum_up() {
  auto& sums = schedule_.amounts_;
  for (OpId op = 0; op < size(); ++op) {
    const GoalOp& what = schedule_.ops_[op];
    if (schedule_.waits_.of(op) == 0) schedule_.roots_.push_back(op);
    if (what.kind == OpKind::kCalc) sums.calc_ns += double(what.amount);
    if (what.kind == OpKind::kSend) sums.messages += 1, sums.bytes += double(what.amount);
  }
}

/// Empty ones, for the operations whose dependents need one.
void GoalBuilder::make_lists() {
  std::vector<std::uint32_t> dependents(size());
  for (const Dependence& d : dependences_) ++dependents[d.earlier];
  for (OpId op = 0; op < size(); ++op) {
    if (dependents[op] <= 2) continue;
    schedule_.ops_[op].first = OpId(schedule_.lists_.size());
    schedule_.ops_[op].second = PlacedOp::kListed;
    schedule_.lists_.resize(schedule_.lists_.size() + 1 + dependents[op]);
  }
}

void GoalBuilder::list(const Dependence& dependence) {
  PlacedOp& op = schedule_.ops_[dependence.earlier];
  if (op.second == PlacedOp::kListed) {
    OpId* const listed = &schedule_.lists_[op.first];
    listed[++listed[0]] = dependence.later;
  } else {
    (op.first == PlacedOp::kNone ? op.first : op.second) = dependence.later;
  }
}

}  // namespace idlewave::sim::network
