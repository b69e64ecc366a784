#pragma once
// Which steps the map's columns show while its axis counts steps. Each rank stands in a column with the step that it is
// in itself: a wave that needs a step for a rank is a straight line, however long its steps are.

#include <optional>
#include <vector>

#include "monitor/timeline/timeline.h"
#include "monitor/view/layout/time_window.h"
#include "monitor/view/state.h"

namespace idlewave::view::layout {

inline constexpr int kLargestStepZoom = 20;

struct StepWindow {
  wire::Step per_column = 1;
  std::int64_t first = 0;  ///< Slot of the leftmost column; slot 0 begins with step 0.
  int columns = 1;

  wire::Step begin_of(int x) const { return per_column * (first + x); }
  /// May lie outside [0, columns).
  std::int64_t x_of(wire::Step step) const { return step / per_column - first; }
  bool shows(wire::Step step) const { return step >= begin_of(0) && step < begin_of(columns); }
};

/// At round steps, the first of them with its unit, far enough apart for their labels.
std::vector<Tick> ticks(const StepWindow& window);

/// `newest`: the latest step that there is.
StepWindow step_window(const State& state, wire::Step newest, int columns, bool smooth);

/// The record of the step that a rank was in at a moment; none before its first.
std::optional<timeline::StepRecord> record_at(const timeline::Lane& lane, Nanoseconds at);
wire::Step step_at(const timeline::Lane& lane, Nanoseconds at);  ///< kNoStep before its first.

/// Largest step that a rank had begun at `at`; of many ranks a few dozen are asked. kNoStep if none had begun one.
wire::Step latest_step_at(const timeline::Timeline& timeline, Nanoseconds at);

/// When the first rank that keeps it began this step, of the program that it ran at `until`, or the nearest one that it
/// keeps; 0 without any.
Nanoseconds begin_of_step(const timeline::Timeline& timeline, wire::Step step, Nanoseconds until);

}  // namespace idlewave::view::layout
