#pragma once

#include <compare>
#include <vector>

#include "monitor/timeline/event_store.h"

namespace idlewave::timeline {

/// Moments beyond this (nine years on a clock that begins when a machine does) are nonsense. Session time is made of a
/// moment, an origin and two offsets, so it stays below ten times this, and differences of it below 2^63.
inline constexpr Nanoseconds kFarthest{std::int64_t{1} << 58};
constexpr bool plausible(Nanoseconds time) { return -kFarthest < time && time < kFarthest; }

/// What everything that one node told reads together. Owned by Timeline at an address that stays.
/// Three clocks: the node's own; lane time, in which all is stored: node's minus `base`, fixed when the first moment is
/// kept; and session time, which readers see: lane time minus `correction`, so that a better estimate of the clock
/// rewrites nothing.
struct NodeClock {
  Nanoseconds base{};
  bool base_is_fixed = false;
  Nanoseconds correction{};
  Nanoseconds up_to{};  ///< Lane time; every event before it has come. Valid if `told`.
  bool told = false;
  BasicPhases basic{};
  /// Lane times, ascending, from which on something is missing. A lane remembers how many there were at its latest
  /// event, so that a gap costs nothing for each of a million ranks.
  std::vector<Nanoseconds> gaps;

  Nanoseconds session_time(Nanoseconds lane_time) const { return lane_time - correction; }
  /// The ends of time, by which windows say that they have none, are the same by every clock.
  Nanoseconds lane_time(Nanoseconds session_time) const {
    const bool is_an_end = session_time == Nanoseconds::max() || session_time == Nanoseconds::min();
    return is_an_end ? session_time : session_time + correction;
  }
};

/// A moment as it was told: on a node's clock, or, where no node told it, in session time. Wherever session time is
/// wanted it is that, by what is known of the node's clock then. Valid as long as the timeline.
class Moment {
 public:
  Moment() = default;  ///< Session time 0.
  Moment(Nanoseconds session_time) : time_(session_time) {}
  Moment(const NodeClock& clock, Nanoseconds lane_time) : clock_(&clock), time_(lane_time) {}

  Nanoseconds session_time() const { return clock_ == nullptr ? time_ : clock_->session_time(time_); }
  operator Nanoseconds() const { return session_time(); }
  friend bool operator==(Moment a, Moment b) { return a.session_time() == b.session_time(); }
  friend auto operator<=>(Moment a, Moment b) { return a.session_time() <=> b.session_time(); }
  friend Nanoseconds operator-(Moment a, Moment b) { return a.session_time() - b.session_time(); }

 private:
  const NodeClock* clock_ = nullptr;
  Nanoseconds time_{};
};

}  // namespace idlewave::timeline
