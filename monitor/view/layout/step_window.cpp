#include "monitor/view/layout/step_window.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::layout {

namespace {

constexpr int kRanksAsked = 32;

}  // namespace

std::vector<Tick> ticks(const StepWindow& window) {
  const auto label = [](bool first, wire::Step step) { return fmt::format("{}{}", first ? "step " : "", step); };
  const int needed = paint::columns_of(label(true, window.begin_of(window.columns))) + 2;
  const wire::Step apart = paint::round_distance(window.per_column * needed);
  std::vector<Tick> out;
  for (wire::Step step = (window.begin_of(0) + apart - 1) / apart * apart; window.shows(step); step += apart) {
    const Tick tick{static_cast<int>(window.x_of(step)), label(out.empty(), step)};
    if (tick.x + 1 + paint::columns_of(tick.label) <= window.columns) out.push_back(tick);
  }
  return out;
}

StepWindow step_window(const State& state, wire::Step newest, int columns, bool smooth) {
  StepWindow window{.per_column = wire::Step{1} << std::clamp(state.step_zoom, 0, kLargestStepZoom),
                    .columns = columns};
  window.first = state.follow ? first_slot(std::max<wire::Step>(newest, 0) / window.per_column, columns, smooth)
                              : std::max<wire::Step>(state.first_step, 0) / window.per_column;
  return window;
}

std::optional<timeline::StepRecord> record_at(const timeline::Lane& lane, Nanoseconds at) {
  const std::size_t begun = lane.steps_begun_before(at + Nanoseconds{1});
  return begun == 0 ? std::nullopt : std::optional(lane.steps()[begun - 1]);
}

wire::Step step_at(const timeline::Lane& lane, Nanoseconds at) {
  const auto record = record_at(lane, at);
  return !record ? wire::kNoStep : record->step;
}

wire::Step latest_step_at(const timeline::Timeline& timeline, Nanoseconds at) {
  wire::Step latest = wire::kNoStep;
  const Rank apart = std::max(timeline.ranks() / kRanksAsked, 1);
  for (Rank rank = 0; rank < timeline.ranks(); rank += apart) {
    if (const timeline::Lane* lane = timeline.lane(rank)) latest = std::max(latest, step_at(*lane, at));
  }
  return latest;
}

Nanoseconds begin_of_step(const timeline::Timeline& timeline, wire::Step step, Nanoseconds until) {
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const timeline::Lane* lane = timeline.lane(rank);
    const auto last = lane == nullptr ? std::nullopt : record_at(*lane, until);
    if (!last) continue;
    if (step >= last->step) return last->begin;
    const auto record = lane->step(step, until);
    return !record ? lane->steps().front().begin : record->begin;
  }
  return Nanoseconds{0};
}

}  // namespace idlewave::view::layout
