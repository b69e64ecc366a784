#include "workloads/sim/network/goal_writer.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace idlewave::sim::network {

namespace {

/// Any source and any tag are -1.
std::int64_t number_of(Tag tag) { return tag == kAnyTag ? -1 : std::int64_t(tag); }

/// What format_to() into a string takes for it is compiled anew in each file, for four seconds.
template <class Number>
void put(std::string& text, std::string_view words, Number number) {
  std::array<char, 20> digits;  // of 64 bits, with a sign
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(words).append(digits.data(), end);
}

void put_message(std::string& text, std::string_view kind, std::string_view whence, const GoalOp& op) {
  put(text, kind, op.amount);
  put(text, whence, op.peer);
  put(text, " tag ", number_of(op.tag));
}

void write_op(const GoalOp& op, OpId label, std::string& text) {
  put(text, "l", label);
  switch (op.kind) {
    case OpKind::kCalc: put(text, ": calc ", op.amount); break;
    case OpKind::kSend: put_message(text, ": send ", "b to ", op); break;
    case OpKind::kRecv: put_message(text, ": recv ", "b from ", op); break;
  }
  if (op.units.cpu != 0) put(text, " cpu ", int{op.units.cpu});
  if (op.units.nic != 0 && op.kind != OpKind::kCalc) put(text, " nic ", int{op.units.nic});
  text += '\n';
}

}  // namespace

std::string goal_head(const GoalSchedule& schedule) { return "num_ranks " + std::to_string(schedule.ranks()) + "\n"; }

void GoalWriter::write_rank(std::string& text) {
  const auto ops = schedule_.ops();
  const OpId begin = next_;
  put(text, "rank ", rank_);
  text += " {\n";
  for (; next_ < ops.size() && ops[next_].rank == rank_; ++next_) write_op(ops[next_], next_ - begin, text);
  for (OpId op = begin; op < next_; ++op)
    for (const OpId dependent : schedule_.dependents(op)) {
      const bool on_start = dependent & GoalSchedule::kWaitsForStart;
      put(text, "l", (dependent & ~GoalSchedule::kWaitsForStart) - begin);
      put(text, on_start ? " irequires l" : " requires l", op - begin);
      text += '\n';
    }
  text += "}\n";
  ++rank_;
}

}  // namespace idlewave::sim::network
