#pragma once
// Who shares a memory interface, where members may tell afterwards when they came.

#include <cstddef>
#include <span>

#include "workloads/kernels/service_clock.h"

namespace idlewave::kernels {

/// A member comes at a time of the service clock, with bytes to move.
struct Arrival {
  double time = 0;
  double bytes = 0;
};

/// A service clock with one target and one arrival per member. An arrival later than the clock is yet to take effect;
/// arrivals do so in the order of their times, whatever the order in which they were told. A clock that is kept behind
/// the present therefore shares as if each had been told at its time. O(members) per arrival and departure.
class Sharing {
 public:
  /// `targets` are changed as arrivals take effect. All spans: one for each member.
  Sharing(const ServiceClock& clock, std::span<double> targets, std::span<const Arrival> arrivals)
      : clock_(clock), targets_(targets), arrivals_(arrivals) {}

  /// On to `now`; a moment that is past changes nothing. Bytes that a member had left when it comes again are added.
  void advance(const BandwidthCurve& curve, double now);

  /// When `member` will have moved its bytes, if nobody else comes; the clock's time if it already has. Goes on to the
  /// last arrival before.
  double finish(std::size_t member, const BandwidthCurve& curve);

  const ServiceClock& clock() const { return clock_; }
  bool is_done(std::size_t member) const;

 private:
  double next_arrival() const;
  void go_to_arrival(double time, const BandwidthCurve& curve);
  bool is_to_come(std::size_t member) const { return arrivals_[member].time > clock_.time(); }

  ServiceClock clock_;
  std::span<double> targets_;
  std::span<const Arrival> arrivals_;
};

}  // namespace idlewave::kernels
