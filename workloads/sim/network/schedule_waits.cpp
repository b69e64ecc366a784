#include "workloads/sim/network/schedule_waits.h"

#include <algorithm>

namespace idlewave::sim::network {
namespace {

using core::WaitsOfStep;
using core::WaitTable;

/// Behind how many calculations of its rank an operation comes, and behind how many receives after the last of them.
struct Place {
  std::uint32_t calculations = 0;
  std::uint32_t receives = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

OpId without_flag(OpId op) { return op & ~GoalSchedule::kWaitsForStart; }

Place behind(Place place, const GoalOp& op) {
  if (is_calculation(op)) return {place.calculations + 1, 0};
  if (op.kind == OpKind::kRecv) ++place.receives;
  return place;
}

std::vector<Place> places_of(const GoalSchedule& schedule) {
  const auto ops = schedule.ops();
  std::vector<Place> places(ops.size());
  std::vector<std::uint32_t> awaited(ops.size());
  for (OpId op = 0; op < ops.size(); ++op)
    for (const OpId later : schedule.dependents(op)) ++awaited[without_flag(later)];
  std::vector<OpId> ready(schedule.roots().begin(), schedule.roots().end());
  while (!ready.empty()) {
    const OpId op = ready.back();
    ready.pop_back();
    const Place next = behind(places[op], ops[op]);
    for (const OpId flagged : schedule.dependents(op)) {
      const OpId later = without_flag(flagged);
      places[later] = std::max(places[later], next);
      if (--awaited[later] == 0) ready.push_back(later);
    }
  }
  return places;
}

/// Messages of a rank between two calculations, in their order.
class Steps {
 public:
  explicit Steps(std::size_t steps) : steps_(steps) {}

  void receive(const Place& place, Rank from) { stage(place).from.push_back(from); }
  void send_by_rendezvous(const Place& place, Rank to) { stage(place).to.push_back(to); }

  std::vector<WaitsOfStep> told_to(WaitTable& table, Rank rank) const {
    std::vector<WaitsOfStep> told(steps_.size());
    for (std::size_t step = 0; step < steps_.size(); ++step)
      for (const Stage& stage : steps_[step])
        told[step].push_back(table.wait(rank, stage.from, stage.to, !stage.to.empty()));
    return told;
  }

 private:
  struct Stage {
    std::vector<Rank> from, to;
  };
  Stage& stage(const Place& place) {
    auto& stages = steps_[place.calculations - 1];
    if (stages.size() <= place.receives) stages.resize(place.receives + 1);
    return stages[place.receives];
  }

  std::vector<std::vector<Stage>> steps_;
};

/// Cut to what comes again and again (the border of Knuth, Morris and Pratt).
void keep_cycle(std::vector<WaitsOfStep>& steps) {
  std::vector<std::size_t> border(steps.size(), 0);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    std::size_t length = border[i - 1];
    while (length > 0 && steps[i] != steps[length]) length = border[length - 1];
    border[i] = length + (steps[i] == steps[length]);
  }
  steps.resize(steps.size() - border.back());
}

/// False if calculations don't follow one another, or if it is not known who sends.
bool add_rank(WaitTable& table, const ScheduledProgram& program, std::span<const PlacedOp> ops,
              std::span<const Place> places, std::size_t steps) {
  Steps told(steps);
  std::vector<bool> begun(steps);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const PlacedOp& op = ops[i];
    const Place& place = places[i];
    if (is_calculation(op)) {
      if (place.calculations >= steps || begun[place.calculations]) return false;
      begun[place.calculations] = true;
    } else if (op.kind == OpKind::kRecv) {
      if (op.peer == kAnySource) return false;
      if (place.calculations > 0) told.receive(place, op.peer);
    } else if (op.kind == OpKind::kSend && op.amount > program.network.rendezvous_size && place.calculations > 0) {
      told.send_by_rendezvous(place, op.peer);
    }
  }
  std::vector<WaitsOfStep> cycle = told.told_to(table, ops.front().rank);
  keep_cycle(cycle);
  table.follow(ops.front().rank, cycle);
  return true;
}

}  // namespace

WaitTable waits_of(const ScheduledProgram& program) {
  const GoalSchedule& schedule = program.schedule;
  WaitTable table(schedule.ranks());
  if (!has_steps(schedule)) return table;
  const auto ops = schedule.ops();
  const std::vector<Place> places = places_of(schedule);
  for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
    std::size_t steps = 0;
    for (end = begin; end < ops.size() && ops[end].rank == ops[begin].rank; ++end) steps += is_calculation(ops[end]);
    const auto its = std::span(places).subspan(begin, end - begin);
    if (!add_rank(table, program, ops.subspan(begin, end - begin), its, steps)) return WaitTable(schedule.ranks());
  }
  return table;
}

}  // namespace idlewave::sim::network
