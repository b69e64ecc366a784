#include "workloads/sim/core/in_order.h"

#include <algorithm>
#include <tuple>

namespace idlewave::sim::core {
namespace {

constexpr auto kLater = [](const auto& a, const auto& b) {
  return std::tie(a.time, a.number) > std::tie(b.time, b.number);
};

}  // namespace

void InOrder::keep(const Note& note) {
  notes_.push_back(note);
  std::ranges::push_heap(notes_, kLater);
}

void InOrder::nothing_before(double time) {
  while (!notes_.empty() && notes_.front().time < time) {
    std::ranges::pop_heap(notes_, kLater);
    const Note note = notes_.back();
    notes_.pop_back();
    last_ = note.time;
    if (note.phase)
      recorder_.enters(note.rank, note.step, *note.phase, note.time);
    else
      recorder_.step_begins(note.rank, note.step, note.time);
  }
  recorder_.nothing_before(time);
}

}  // namespace idlewave::sim::core
