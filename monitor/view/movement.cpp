#include "monitor/view/movement.h"

#include <algorithm>

namespace idlewave::view {

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

std::int64_t newest_slot(const Turn& turn) {
  const Nanoseconds last = shown_until(turn.state, turn.model) - Nanoseconds(1);
  return std::max(last, Nanoseconds::zero()) / turn.layout.window.column;
}

void show_window_from(State& state, Nanoseconds from) {
  state.follow = false;
  state.window_begin = std::max(from, Nanoseconds::zero());
}

}  // namespace

void visit_rank(State& state, Rank rank, Rank ranks) {
  const auto holds = [rank](const RankRange& r) { return rank >= r.first && rank < r.last; };
  if (std::none_of(state.filter.begin(), state.filter.end(), holds)) state.filter.clear();
  state.cursor_rank = rank;
  scroll_to_cursor(state, ranks);
}

void visit_time(Turn& turn, Nanoseconds at) {
  const TimeWindow& window = turn.layout.window;
  const std::int64_t slot = std::clamp<std::int64_t>(at / window.column, 0, newest_slot(turn));
  turn.state.cursor_time = window.column * slot;
  if (!window.shows(*turn.state.cursor_time)) show_window_from(turn.state, window.column * (slot - window.columns / 4));
}

void move_in_time(Turn& turn, std::int64_t columns) {
  const TimeWindow& window = turn.layout.window;
  const std::int64_t newest = newest_slot(turn);
  const bool in_sight = turn.state.cursor_time && window.shows(*turn.state.cursor_time);
  const std::int64_t here = in_sight
                                ? *turn.state.cursor_time / window.column
                                : std::min(newest, window.first + (turn.state.cursor_time ? 0 : window.columns - 1));
  const std::int64_t slot = std::max<std::int64_t>(here + columns, 0);
  if (slot > newest) {
    turn.state.cursor_time.reset();
    return;
  }
  turn.state.cursor_time = window.column * slot;
  if (slot < window.first) show_window_from(turn.state, window.column * slot);
  if (slot >= window.first + window.columns) show_window_from(turn.state, window.column * (slot - window.columns + 1));
}

void move_in_ranks(State& state, const Model& model, Rank places) {
  const Rank ranks = model.timeline.ranks();
  const Rank last = std::max(passing_ranks(state, ranks) - 1, 0);
  const Rank place = std::clamp(place_of(state, ranks, state.cursor_rank) + places, 0, last);
  state.cursor_rank = std::max(rank_at(state, ranks, place), 0);
  scroll_to_cursor(state, ranks);
}

void move_window(Turn& turn, std::int64_t columns) {
  const TimeWindow& window = turn.layout.window;
  const std::int64_t last_first = std::max<std::int64_t>(newest_slot(turn) + 1 - window.columns, 0);
  show_window_from(turn.state, window.column * std::clamp<std::int64_t>(window.first + columns, 0,
                                                                        std::max(last_first, window.first)));
}

void change_zoom(Turn& turn, int steps) {
  const TimeWindow& window = turn.layout.window;
  State& state = turn.state;
  const int now = std::clamp(state.zoom.value_or(fitting_zoom(window.columns)), 0, kLargestZoom);
  state.zoom = std::clamp(now + steps, 0, kLargestZoom);
  if (state.follow || *state.zoom == now) return;
  const bool at_cursor = state.cursor_time && window.shows(*state.cursor_time);
  const Nanoseconds anchor = at_cursor ? *state.cursor_time : window.begin_of(window.columns / 2);
  const Nanoseconds before = anchor - window.from();
  show_window_from(state, anchor - (steps > 0 ? before * (1 << steps) : before / (1 << -steps)));
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

}  // namespace idlewave::view
