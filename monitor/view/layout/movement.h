#pragma once
// Moving the cursor and what the map shows, so that the cursor stays in sight.

#include "monitor/view/layout/turn.h"

namespace idlewave::view::layout {

/// Puts the cursor on a rank, undoing a filter that hides it and scrolling to it.
void visit_rank(State& state, Rank rank, Rank ranks);

/// Puts the cursor on `at`, moving the window if it does not show its column. While paused nothing later
/// than the pause is visited, unless the pause is moved there first.
void visit_time(Turn& turn, Nanoseconds at);

/// Puts the cursor on a column of the map.
void visit_column(Turn& turn, int x);

/// Counts the map's columns in time or in steps, and stays at the place that is shown.
void change_axis(Turn& turn);

/// Moves the cursor by whole columns; beyond the newest one it stays there with the data.
void move_in_time(Turn& turn, std::int64_t columns);

/// Moves the cursor by places among the ranks that pass the filter.
void move_in_ranks(State& state, const Model& model, Rank places);

/// Moves the window by whole columns and stops following.
void move_window(Turn& turn, std::int64_t columns);

/// Makes columns 2^doublings times as wide, keeping the place under the cursor where it is.
void change_zoom(Turn& turn, int doublings);

/// Halves (positive) or doubles the number of ranks on the map, around the cursor.
void change_rank_zoom(Turn& turn, bool fewer);

}  // namespace idlewave::view::layout
