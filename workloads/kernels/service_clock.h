#pragma once
// The arithmetic of a shared memory interface: processor sharing, in closed form between two changes of its members.

#include <span>

#include "workloads/kernels/bandwidth_curve.h"

namespace idlewave::kernels {

/// How much service S every member that is active has had, which grows at b(n)/n while n members are active. A member
/// that enters at S0 with V bytes to move is given the target S0 + V, is active while S is below it, and leaves by
/// itself when S reaches it: departures need no message, so however late a member wakes up, the others never share with
/// one whose work is done.
///
/// Trivially copyable: a copy is a look into the future, and the whole can be put into shared memory. Times are
/// nanoseconds and bytes, both as double: after a day at 10 GB/s they are still resolved to a tenth of either.
/// O(members) per departure.
class ServiceClock {
 public:
  /// A target that is never ahead of S.
  static constexpr double kIdle = 0;

  /// On to `now`; a moment that is past changes nothing. `targets`: one per member.
  void advance(std::span<const double> targets, const BandwidthCurve& curve, double now);

  /// When S will reach `target`, one of `targets`, if nobody enters. An entry can only make it later.
  double finish_of(double target, std::span<const double> targets, const BandwidthCurve& curve) const;

  double time() const { return time_; }
  double service() const { return service_; }
  bool has_reached(double target) const { return service_ >= target; }
  double bytes_moved() const { return bytes_moved_; }  ///< By all members: the integral of b(n).

 private:
  void run(std::span<const double> targets, const BandwidthCurve& curve, double until, double goal);

  double time_ = 0;
  double service_ = 0;
  double bytes_moved_ = 0;
};

}  // namespace idlewave::kernels
