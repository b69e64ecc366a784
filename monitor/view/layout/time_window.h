#pragma once
// Which stretch of time the map's columns show. A column is a slot of absolute time: what it holds never depends on
// where it is drawn. Where the program has a rhythm (rhythm.h) a slot is a whole number of steps or a whole fraction of
// one, as any other width beats with the steps and draws stripes that are not there.

#include <string>
#include <vector>

#include "monitor/view/model.h"
#include "monitor/view/state.h"

namespace idlewave::view::layout {

inline constexpr Nanoseconds kFinestColumn{1 << 10};
inline constexpr int kLargestZoom = 30;  ///< A column of 1100 s.

struct TimeWindow {
  Nanoseconds column = kFinestColumn;
  std::int64_t first = 0;  ///< Slot of the leftmost column; slot 0 begins at session time 0.
  int columns = 1;

  Nanoseconds begin_of(int x) const { return column * (first + x); }
  Nanoseconds from() const { return begin_of(0); }
  Nanoseconds to() const { return begin_of(columns); }
  /// May lie outside [0, columns).
  std::int64_t x_of(Nanoseconds at) const { return at / column - first; }
  bool shows(Nanoseconds at) const { return at >= from() && at < to(); }
};

/// The latest moment that the map shows: now, or when it was paused; while a replay is read up to some place, the moment
/// of its latest findings. The window of the findings had better end here too.
Nanoseconds shown_until(const State& state, const Model& model);

/// What is known of the session's time. `edge`: the newest moment there is.
struct SessionTime {
  Nanoseconds edge{};
  Nanoseconds oldest{};                    ///< Before this there is nothing to follow.
  Nanoseconds step{};                      ///< The program's rhythm; 0: none.
  Nanoseconds whole = Nanoseconds::max();  ///< How long it is, once that is known.
  bool is_over = false;                    ///< Nothing comes behind `edge`.
};
SessionTime session_time(const State& state, const Model& model);

/// kFinestColumn * 2^zoom; with a `step`, that times or divided by the power of two which comes nearest.
Nanoseconds column_width(int zoom, Nanoseconds step);

/// The narrowest column of which `columns` show five seconds, or all of a session that is known to last no more than ten:
/// a whole number of steps or a whole fraction of one, where there are steps.
Nanoseconds fitting_column(int columns, const SessionTime& time = {});

/// The finest zoom that shows as much.
int fitting_zoom(int columns, const SessionTime& time = {});

/// While following, the edge lies in the window: `smooth`, always in the last column once the window is full; else the
/// window moves on by a quarter of its width whenever the edge reaches its end.
TimeWindow time_window(const State& state, const SessionTime& time, int columns, bool smooth);

/// Of `columns` slots, while they follow the newest one, by the same rule.
std::int64_t first_slot(std::int64_t newest, int columns, bool smooth);

struct Tick {
  int x = 0;
  std::string label;
};
/// At round times, with units, far enough apart for their labels; none that would not fit whole.
std::vector<Tick> ticks(const TimeWindow& window);

}  // namespace idlewave::view::layout
