#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "monitor/timeline/event_store.h"

namespace idlewave::timeline {

/// Moments beyond this (nine years on a clock that begins when a machine does) are nonsense. Session time is made of a
/// moment, an origin and two offsets, so it stays below ten times this, and differences of it below 2^63.
inline constexpr Nanoseconds kFarthest{std::int64_t{1} << 58};
constexpr bool plausible(Nanoseconds time) { return -kFarthest < time && time < kFarthest; }

/// How far a node's clock is ahead of the session's at some moment.
struct ClockKnot {
  Nanoseconds at{};  ///< Node's clock.
  Nanoseconds offset{};
  friend bool operator==(const ClockKnot&, const ClockKnot&) = default;
};

/// What is known of a node's clock over a session: straight lines from knot to knot, of which the first and the last go
/// on for ever; a single knot holds everywhere. At least one knot; they ascend. Drawn by whoever compares clocks.
struct ClockCurve {
  /// Of a line; clocks of machines drift by a hundredth of it. So session time never runs backward while a node's clock
  /// runs forward.
  static constexpr double kSteepest = 1.0 / 64;

  std::vector<ClockKnot> knots{ClockKnot{}};
  /// The true offset lies within this of what the curve says, at every knot; nothing: not known.
  std::optional<Nanoseconds> error{};

  Nanoseconds offset_at(Nanoseconds node_time) const;
  friend bool operator==(const ClockCurve&, const ClockCurve&) = default;
};

/// What everything that one node told reads together. Owned by Timeline at an address that stays.
/// Three clocks: the node's own; lane time, in which all is stored: node's minus `base`, fixed when the first moment is
/// kept; and session time, which readers see: lane time minus a correction, so that a better estimate of the clock
/// rewrites nothing.
struct NodeClock {
  Nanoseconds base{};
  bool base_is_fixed = false;
  Nanoseconds correction{};  ///< Where there are no bends.
  /// Lane time and the correction there, as in ClockCurve; none where one correction holds everywhere.
  std::vector<ClockKnot> bends;
  Nanoseconds up_to{};  ///< Lane time; every event before it has come. Valid if `told`.
  bool told = false;
  BasicPhases basic{};
  /// Lane times, ascending, from which on something is missing. A lane remembers how many there were at its latest
  /// event, so that a gap costs nothing for each of a million ranks.
  std::vector<Nanoseconds> gaps;

  /// Never decreases as lane time increases.
  Nanoseconds session_time(Nanoseconds lane_time) const {
    return lane_time - (bends.empty() ? correction : bent_correction(lane_time));
  }
  /// The first lane time whose session time is not before the one given: what is stored lies before the one where it is
  /// read before the other. The ends of time, by which windows say that they have none, are the same by every clock.
  Nanoseconds lane_time(Nanoseconds session_time) const {
    const bool is_an_end = session_time == Nanoseconds::max() || session_time == Nanoseconds::min();
    if (is_an_end) return session_time;
    return bends.empty() ? session_time + correction : bent_lane_time(session_time);
  }

 private:
  Nanoseconds bent_correction(Nanoseconds lane_time) const;
  Nanoseconds bent_lane_time(Nanoseconds session_time) const;
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
  /// As it is stored: stays the same, whatever becomes known of the clock, and so tells moments of one lane apart.
  Nanoseconds as_told() const { return time_; }
  friend bool operator==(Moment a, Moment b) { return a.session_time() == b.session_time(); }
  friend auto operator<=>(Moment a, Moment b) { return a.session_time() <=> b.session_time(); }
  friend Nanoseconds operator-(Moment a, Moment b) { return a.session_time() - b.session_time(); }

 private:
  const NodeClock* clock_ = nullptr;
  Nanoseconds time_{};
};

}  // namespace idlewave::timeline
