#include "monitor/view/layout/time_window.h"

#include <algorithm>
#include <cmath>

#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::layout {

namespace {

constexpr Nanoseconds kComfortable = std::chrono::seconds(5);

/// Slot of the last instant before `edge`.
std::int64_t newest_slot(Nanoseconds edge, Nanoseconds column) {
  return std::max<std::int64_t>(edge.count() - 1, 0) / column.count();
}

std::int64_t first_slot_in_jumps(std::int64_t newest, int columns) {
  const std::int64_t quarter = std::max(columns / 4, 1);
  const std::int64_t beyond = newest + 1 - columns;
  return beyond <= 0 ? 0 : (beyond + quarter - 1) / quarter * quarter;
}

Nanoseconds round_step(Nanoseconds least) { return Nanoseconds(paint::round_distance(least.count())); }

}  // namespace

Nanoseconds shown_until(const State& state, const Model& model) {
  const bool loads = !model.session.loading.empty();
  const Nanoseconds now = loads ? std::min(model.findings.window.to, model.timeline.now()) : model.timeline.now();
  return state.paused ? std::min(state.paused_at, now) : now;
}

SessionTime session_time(const State& state, const Model& model) {
  const SessionInfo& session = model.session;
  SessionTime time{.edge = shown_until(state, model), .step = session.rhythm};
  time.oldest = std::min(model.timeline.begin(), time.edge);
  if (session.replay)
    time.whole = session.replay->duration;
  else if (session.link == LinkCondition::kEnded)
    time.whole = model.timeline.now();
  return time;
}

Nanoseconds column_width(int zoom, Nanoseconds step) {
  const std::int64_t plain = kFinestColumn.count() << std::clamp(zoom, 0, kLargestZoom);
  if (step <= Nanoseconds{0}) return Nanoseconds(plain);
  const auto doublings =
      static_cast<int>(std::lround(std::log2(static_cast<double>(plain) / static_cast<double>(step.count()))));
  return Nanoseconds(std::max<std::int64_t>(std::llround(std::ldexp(static_cast<double>(step.count()), doublings)), 1));
}

int fitting_zoom(int columns, const SessionTime& time) {
  const Nanoseconds length = time.whole > Nanoseconds{0} ? std::min(kComfortable, time.whole) : kComfortable;
  int zoom = 0;
  while (zoom < kLargestZoom && column_width(zoom, time.step) * columns < length) ++zoom;
  return zoom;
}

std::int64_t first_slot(std::int64_t newest, int columns, bool smooth) {
  return smooth ? std::max<std::int64_t>(newest + 1 - columns, 0) : first_slot_in_jumps(newest, columns);
}

TimeWindow time_window(const State& state, const SessionTime& time, int columns, bool smooth) {
  const int zoom = state.zoom.value_or(fitting_zoom(columns, time));
  TimeWindow window{.column = column_width(zoom, time.step), .columns = columns};
  window.first = state.follow ? std::max(first_slot(newest_slot(time.edge, window.column), columns, smooth),
                                         time.oldest / window.column)
                              : std::max<std::int64_t>(state.window_begin / window.column, 0);
  return window;
}

std::vector<Tick> ticks(const TimeWindow& window) {
  Nanoseconds step = round_step(window.column);
  int needed = 0;
  do {
    needed = paint::columns_of(paint::to_moment(window.to(), step)) + 3;
    if (window.column * needed > step) step = round_step(step + Nanoseconds(1));
  } while (window.column * needed > step);
  std::vector<Tick> out;
  for (std::int64_t n = (window.from().count() + step.count() - 1) / step.count(); step * n < window.to(); ++n) {
    const auto x = static_cast<int>(window.x_of(step * n));
    std::string label = paint::to_moment(step * n, step);
    if (x + 1 + paint::columns_of(label) <= window.columns) out.push_back({x, std::move(label)});
  }
  return out;
}

}  // namespace idlewave::view::layout
