#include "workloads/kernels/sharing.h"

#include <algorithm>
#include <limits>

namespace idlewave::kernels {

void Sharing::advance(const BandwidthCurve& curve, double now) {
  for (double next = next_arrival(); next <= now; next = next_arrival()) go_to_arrival(next, curve);
  clock_.advance(targets_, curve, now);
}

double Sharing::finish(std::size_t member, const BandwidthCurve& curve) {
  for (;;) {
    const double next = next_arrival();
    if (!is_to_come(member)) {
      const double end = clock_.finish_of(targets_[member], targets_, curve);
      if (end <= next) return end;
    }
    go_to_arrival(next, curve);
  }
}

bool Sharing::is_done(std::size_t member) const { return !is_to_come(member) && clock_.has_reached(targets_[member]); }

/// The earliest that is yet to take effect; infinity if there is none.
double Sharing::next_arrival() const {
  double next = std::numeric_limits<double>::infinity();
  for (const Arrival& arrival : arrivals_) {
    if (arrival.time > clock_.time()) next = std::min(next, arrival.time);
  }
  return next;
}

/// All that come at `time` take effect: afterwards the clock says that they have.
void Sharing::go_to_arrival(double time, const BandwidthCurve& curve) {
  clock_.advance(targets_, curve, time);
  for (std::size_t member = 0; member < arrivals_.size(); ++member) {
    if (arrivals_[member].time != time) continue;
    targets_[member] = std::max(targets_[member], clock_.service()) + arrivals_[member].bytes;
  }
}

}  // namespace idlewave::kernels
