#include "monitor/view/layout/movement.h"

#include <algorithm>

namespace idlewave::view::layout {

namespace {

constexpr Rank kFewestRanksShown = 2;

/// Scrolls the map so that the cursor's rank is on it.
void scroll_to_cursor(State& state, Rank ranks) {
  if (state.ranks_shown <= 0) return;
  const Rank place = place_of(state, ranks, state.cursor_rank);
  const Rank last_first = std::max(passing_ranks(state, ranks) - state.ranks_shown, 0);
  state.first_rank = std::clamp(state.first_rank, std::max(place - state.ranks_shown + 1, 0), place);
  state.first_rank = std::min(state.first_rank, last_first);
}

Nanoseconds last_moment(const Turn& turn) {
  return std::max(shown_until(turn.state, turn.model) - Nanoseconds(1), Nanoseconds::zero());
}

/// A place on the map's axis is a slot of time, or one of steps of the cursor's rank.
std::int64_t slot_of(const Turn& turn, Nanoseconds at) {
  if (!turn.layout.steps) return at / turn.layout.window.column;
  const timeline::Lane* lane = turn.model.timeline.lane(turn.state.cursor_rank);
  return lane == nullptr ? 0 : std::max<wire::Step>(step_at(*lane, at), 0) / turn.layout.steps->per_column;
}

Nanoseconds begin_of_slot(const Turn& turn, std::int64_t slot) {
  if (!turn.layout.steps) return turn.layout.window.column * slot;
  const wire::Step step = slot * turn.layout.steps->per_column;
  const Nanoseconds until = shown_until(turn.state, turn.model);
  const timeline::Lane* lane = turn.model.timeline.lane(turn.state.cursor_rank);
  const auto record = lane == nullptr ? std::nullopt : lane->step(step, until);
  return !record ? begin_of_step(turn.model.timeline, step, until) : record->begin;
}

std::int64_t newest_slot(const Turn& turn) { return slot_of(turn, last_moment(turn)); }

/// Before it nobody listened.
std::int64_t oldest_slot(const Turn& turn) {
  if (turn.layout.steps) return 0;
  return std::clamp<std::int64_t>(slot_of(turn, turn.model.timeline.begin()), 0, newest_slot(turn));
}

std::int64_t first_slot_shown(const Turn& turn) {
  return turn.layout.steps ? turn.layout.steps->first : turn.layout.window.first;
}

bool shows_slot(const Turn& turn, std::int64_t slot) {
  const std::int64_t first = first_slot_shown(turn);
  return slot >= first && slot < first + turn.layout.window.columns;
}

void show_from(Turn& turn, std::int64_t slot) {
  turn.state.follow = false;
  slot = std::max(slot, oldest_slot(turn));
  if (turn.layout.steps)
    turn.state.first_step = slot * turn.layout.steps->per_column;
  else
    turn.state.window_begin = turn.layout.window.column * slot;
}

void change_step_zoom(Turn& turn, int doublings) {
  State& state = turn.state;
  const StepWindow& window = *turn.layout.steps;
  const int now = std::clamp(state.step_zoom, 0, kLargestStepZoom);
  state.step_zoom = std::clamp(now + doublings, 0, kLargestStepZoom);
  if (state.follow || state.step_zoom == now) return;
  const wire::Step middle = window.begin_of(window.columns / 2);
  const wire::Step half = (middle - window.begin_of(0)) * (wire::Step{1} << state.step_zoom) / window.per_column;
  state.first_step = std::max<wire::Step>(middle - half, 0);
}

}  // namespace

void visit_rank(State& state, Rank rank, Rank ranks) {
  const auto holds = [rank](const RankRange& r) { return rank >= r.first && rank < r.last; };
  if (std::none_of(state.filter.begin(), state.filter.end(), holds)) state.filter.clear();
  state.cursor_rank = rank;
  scroll_to_cursor(state, ranks);
}

void visit_time(Turn& turn, Nanoseconds at) {
  const std::int64_t there = slot_of(turn, at), slot = std::clamp(there, oldest_slot(turn), newest_slot(turn));
  const Nanoseconds begin = begin_of_slot(turn, slot);
  turn.state.cursor_time = slot == there ? std::max(at, begin) : begin;
  if (!shows_slot(turn, slot)) show_from(turn, slot - turn.layout.window.columns / 4);
}

void visit_column(Turn& turn, int x) {
  turn.state.cursor_time = begin_of_slot(turn, std::min(first_slot_shown(turn) + x, newest_slot(turn)));
}

void move_in_time(Turn& turn, std::int64_t columns) {
  const std::int64_t newest = newest_slot(turn), first = first_slot_shown(turn);
  const int shown = turn.layout.window.columns;
  const auto& cursor = turn.state.cursor_time;
  const bool in_sight = cursor && shows_slot(turn, slot_of(turn, *cursor));
  const std::int64_t here = in_sight ? slot_of(turn, *cursor) : std::min(newest, first + shown - 1);
  const std::int64_t slot = std::max(here + columns, oldest_slot(turn));
  if (slot > newest) {
    turn.state.cursor_time.reset();
    return;
  }
  turn.state.cursor_time = begin_of_slot(turn, slot);
  if (slot < first) show_from(turn, slot);
  if (slot >= first + shown) show_from(turn, slot - shown + 1);
}

void change_axis(Turn& turn) {
  State& state = turn.state;
  if (!state.follow) {
    const Nanoseconds until = shown_until(state, turn.model);
    if (turn.layout.steps)
      state.window_begin = begin_of_step(turn.model.timeline, turn.layout.steps->begin_of(0), until);
    else
      state.first_step = std::max<wire::Step>(latest_step_at(turn.model.timeline, turn.layout.window.from()), 0);
  }
  state.by_steps = !state.by_steps;
}

void move_in_ranks(State& state, const Model& model, Rank places) {
  const Rank ranks = model.timeline.ranks();
  const Rank last = std::max(passing_ranks(state, ranks) - 1, 0);
  const Rank place = std::clamp(place_of(state, ranks, state.cursor_rank) + places, 0, last);
  state.cursor_rank = std::max(rank_at(state, ranks, place), 0);
  scroll_to_cursor(state, ranks);
}

void move_window(Turn& turn, std::int64_t columns) {
  const std::int64_t first = first_slot_shown(turn);
  const std::int64_t last_first = std::max<std::int64_t>(newest_slot(turn) + 1 - turn.layout.window.columns, 0);
  show_from(turn, std::clamp<std::int64_t>(first + columns, 0, std::max(last_first, first)));
}

void change_zoom(Turn& turn, int doublings) {
  if (turn.layout.steps) return change_step_zoom(turn, doublings);
  const TimeWindow& window = turn.layout.window;
  State& state = turn.state;
  const SessionTime time = session_time(state, turn.model);
  const int fitting = fitting_zoom(window.columns, time);
  const int now = std::clamp(state.zoom.value_or(fitting), 0, kLargestZoom);
  state.zoom = std::clamp(now + doublings, 0, kLargestZoom);
  if (state.follow || *state.zoom == now) return;
  const bool at_cursor = state.cursor_time && window.shows(*state.cursor_time);
  const Nanoseconds anchor = at_cursor ? *state.cursor_time : window.begin_of(window.columns / 2);
  const Nanoseconds after = column_width(*state.zoom, time.step) * window.x_of(anchor);
  state.window_begin = std::max(anchor - after, Nanoseconds::zero());
}

void change_rank_zoom(Turn& turn, bool fewer) {
  State& state = turn.state;
  const Rank ranks = turn.model.timeline.ranks(), passing = passing_ranks(state, ranks);
  const Rank now = state.ranks_shown > 0 ? std::min(state.ranks_shown, passing) : passing;
  const Rank next = fewer ? std::max((now + 1) / 2, std::min(kFewestRanksShown, passing))
                          : std::min<std::int64_t>(std::int64_t{now} * 2, passing);
  state.ranks_shown = next >= passing ? 0 : next;
  state.first_rank = state.ranks_shown == 0 ? 0 : std::max(place_of(state, ranks, state.cursor_rank) - next / 2, 0);
  scroll_to_cursor(state, ranks);
}

}  // namespace idlewave::view::layout
