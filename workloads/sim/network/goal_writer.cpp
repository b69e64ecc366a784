#include "workloads/sim/network/goal_writer.h"

#include <fmt/format.h>

#include <iterator>

namespace idlewave::sim::network {

namespace {

/// Any source and any tag are -1.
std::int64_t number_of(Tag tag) { return tag == kAnyTag ? -1 : std::int64_t(tag); }

void write_op(const GoalOp& op, OpId label, std::string& text) {
  const auto out = std::back_inserter(text);
  switch (op.kind) {
    case OpKind::kCalc: fmt::format_to(out, "l{}: calc {}", label, op.amount); break;
    case OpKind::kSend:
      fmt::format_to(out, "l{}: send {}b to {} tag {}", label, op.amount, op.peer, number_of(op.tag));
      break;
    case OpKind::kRecv:
      fmt::format_to(out, "l{}: recv {}b from {} tag {}", label, op.amount, op.peer, number_of(op.tag));
      break;
  }
  if (op.units.cpu != 0) fmt::format_to(out, " cpu {}", op.units.cpu);
  if (op.units.nic != 0 && op.kind != OpKind::kCalc) fmt::format_to(out, " nic {}", op.units.nic);
  text += '\n';
}

}  // namespace

std::string goal_head(const GoalSchedule& schedule) { return fmt::format("num_ranks {}\n", schedule.ranks()); }

void GoalWriter::write_rank(std::string& text) {
  const auto ops = schedule_.ops();
  const OpId begin = next_;
  fmt::format_to(std::back_inserter(text), "rank {} {{\n", rank_);
  for (; next_ < ops.size() && ops[next_].rank == rank_; ++next_) write_op(ops[next_], next_ - begin, text);
  for (OpId op = begin; op < next_; ++op)
    for (const OpId dependent : schedule_.dependents(op)) {
      const bool on_start = dependent & GoalSchedule::kWaitsForStart;
      fmt::format_to(std::back_inserter(text), "l{} {} l{}\n", (dependent & ~GoalSchedule::kWaitsForStart) - begin,
                     on_start ? "irequires" : "requires", op - begin);
    }
  text += "}\n";
  ++rank_;
}

}  // namespace idlewave::sim::network
