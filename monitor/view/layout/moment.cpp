#include "monitor/view/layout/moment.h"

#include <algorithm>

namespace idlewave::view::layout {

namespace {

Nanoseconds end_of_cursor(Nanoseconds at, const State& state, const Model& model, const Layout& layout) {
  if (!layout.steps) return layout.window.column * (at / layout.window.column + 1);
  const timeline::Lane* lane = model.timeline.lane(state.cursor_rank);
  const auto record = lane == nullptr ? std::nullopt : record_at(*lane, at);
  return !record || record->end == Nanoseconds{0} ? Nanoseconds::max() : record->end;
}

Nanoseconds end_of_map(const Model& model, const Layout& layout, Nanoseconds until) {
  if (!layout.steps) return layout.window.to();
  const wire::Step after = layout.steps->begin_of(layout.steps->columns);
  return after > latest_step_at(model.timeline, until) ? until : begin_of_step(model.timeline, after, until);
}

}  // namespace

std::optional<Nanoseconds> cursor_in_sight(const State& state, const Model& model, const Layout& layout) {
  if (!state.cursor_time || !column_of(layout, model.timeline, state.cursor_rank, *state.cursor_time)) return {};
  return state.cursor_time;
}

Nanoseconds moment_of(const State& state, const Model& model, const Layout& layout) {
  const Nanoseconds until = shown_until(state, model);
  if (layout.tiny) return until;
  if (const auto at = cursor_in_sight(state, model, layout))
    return std::min(end_of_cursor(*at, state, model, layout), until);
  return state.follow ? until : std::min(end_of_map(model, layout, until), until);
}

analysis::Window ghost_window(const State& state, const Model& model, const Layout& layout) {
  constexpr int kCut = 4;
  const Nanoseconds until = shown_until(state, model);
  const Nanoseconds from =
      layout.steps ? begin_of_step(model.timeline, layout.steps->begin_of(0), until) : layout.window.from();
  const Nanoseconds to = std::min(end_of_map(model, layout, until), until);
  return {from - (to - from) / kCut, to};
}

bool shows_the_past(const State& state, const Model& model, const Layout& layout) {
  return state.paused || moment_of(state, model, layout) < shown_until(state, model);
}

Nanoseconds told_until(const State& state, const Model& model, const Layout& layout) {
  return shows_the_past(state, model, layout) ? moment_of(state, model, layout) : Nanoseconds::max();
}

wire::Step step_shown(const Model& model, Nanoseconds at) {
  if (model.findings.ground.partners.unlike_counts) return wire::kNoStep;
  return at < model.timeline.now() ? latest_step_at(model.timeline, at) : model.timeline.latest_step();
}

std::optional<int> column_of(const Layout& layout, const timeline::Timeline& timeline, Rank rank, Nanoseconds at) {
  if (!layout.steps) {
    if (!layout.window.shows(at)) return std::nullopt;
    return static_cast<int>(layout.window.x_of(at));
  }
  const timeline::Lane* lane = timeline.lane(rank);
  const wire::Step step = lane == nullptr ? wire::kNoStep : step_at(*lane, at);
  if (!layout.steps->shows(step)) return std::nullopt;
  return static_cast<int>(layout.steps->x_of(step));
}

}  // namespace idlewave::view::layout
