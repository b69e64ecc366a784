#pragma once
// The run as a whole, as a set of coupled oscillators: how far its ranks are in phase.

#include <optional>
#include <vector>

#include "monitor/analysis/window.h"
#include "monitor/theory/phase_order.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::session {

/// A rank's phase is 2 pi for each step that it has begun since the first, and the part of 2 pi that has passed of the
/// step it is in, by the typical length of a step; it stays at the end of a step that lasts longer. Radians.
struct Order : theory::PhaseOrder {
  Nanoseconds at{};
  int ranks = 0;
};

/// Of the ranks that ran at `at`, but for those that had been outside any phase for as long as a step takes; nothing of fewer
/// than two, or than half of those that have been heard, or before a step has ended.
std::optional<Order> order_at(const timeline::Timeline& timeline, Nanoseconds at);

/// At `points` moments at equal distances, the first at window.from and the last just before window.to; where it is
/// defined.
std::vector<Order> order_over(const timeline::Timeline& timeline, Window window, int points);

}  // namespace idlewave::analysis::session
