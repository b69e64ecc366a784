#include "monitor/view/layout/time_window.h"

#include <algorithm>
#include <cmath>

#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::layout {

namespace {

constexpr Nanoseconds kComfortable = std::chrono::seconds(5);
constexpr Nanoseconds kWholeUpTo = std::chrono::seconds(10);

/// Slot of the last instant before `edge`.
std::int64_t newest_slot(Nanoseconds edge, Nanoseconds column) {
  return std::max<std::int64_t>(edge.count() - 1, 0) / column.count();
}

std::int64_t first_slot_in_jumps(std::int64_t newest, int columns) {
  const std::int64_t quarter = std::max(columns / 4, 1);
  const std::int64_t beyond = newest + 1 - columns;
  return beyond <= 0 ? 0 : (beyond + quarter - 1) / quarter * quarter;
}

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Nanoseconds shown_at_first(const SessionTime& time) {
  return time.whole > Nanoseconds{0} && time.whole <= kWholeUpTo ? time.whole : kComfortable;
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
  time.is_over = session.link == LinkCondition::kEnded && time.edge >= model.timeline.now();
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

Nanoseconds fitting_column(int columns, const SessionTime& time) {
  const std::int64_t least = std::max(quotient_up(shown_at_first(time).count(), columns), kFinestColumn.count());
  const std::int64_t step = time.step.count();
  if (step <= 0) return Nanoseconds(least);
  return Nanoseconds(least > step ? quotient_up(least, step) * step : quotient_up(step, step / least));
}

int fitting_zoom(int columns, const SessionTime& time) {
  int zoom = 0;
  while (zoom < kLargestZoom && column_width(zoom, time.step) * columns < shown_at_first(time)) ++zoom;
  return zoom;
}

std::int64_t first_slot(std::int64_t newest, int columns, bool smooth) {
  return smooth ? std::max<std::int64_t>(newest + 1 - columns, 0) : first_slot_in_jumps(newest, columns);
}

TimeWindow time_window(const State& state, const SessionTime& time, int columns, bool smooth) {
  const Nanoseconds column = state.zoom ? column_width(*state.zoom, time.step) : fitting_column(columns, time);
  TimeWindow window{.column = column, .columns = columns};
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
