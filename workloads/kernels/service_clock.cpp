#include "workloads/kernels/service_clock.h"

#include <algorithm>
#include <limits>

namespace idlewave::kernels {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Active {
  int count = 0;
  double next_target = kNever;
};

Active active_among(std::span<const double> targets, double service) {
  Active active;
  for (const double target : targets) {
    if (target <= service) continue;
    ++active.count;
    active.next_target = std::min(active.next_target, target);
  }
  return active;
}

}  // namespace

void ServiceClock::advance(std::span<const double> targets, const BandwidthCurve& curve, double now) {
  run(targets, curve, now, kNever);
  time_ = std::max(time_, now);
}

double ServiceClock::finish_of(double target, std::span<const double> targets, const BandwidthCurve& curve) const {
  ServiceClock future = *this;
  future.run(targets, curve, kNever, target);
  return future.time_;
}

/// From departure to departure, until time or service has come far enough, or nobody is active.
void ServiceClock::run(std::span<const double> targets, const BandwidthCurve& curve, double until, double goal) {
  while (time_ < until && service_ < goal) {
    const Active active = active_among(targets, service_);
    if (active.count == 0) return;
    const double rate = curve.of_each(active.count) * 1e-9;
    const double departure = time_ + (active.next_target - service_) / rate;
    const bool departs = departure <= until;
    const double end = departs ? departure : until;
    const double served = departs ? active.next_target - service_ : rate * (end - time_);
    bytes_moved_ += active.count * served;
    service_ = departs ? active.next_target : std::min(service_ + served, active.next_target);
    time_ = end;
  }
}

}  // namespace idlewave::kernels
