#pragma once
// Memory bandwidth of a contention domain over the number of processes that work on it: b(n) of afzal-2020,
// section 3.1.

#include <vector>

namespace idlewave::kernels {

/// Immutable. Bytes per second.
class BandwidthCurve {
 public:
  /// b(n) = min(n * core, domain).
  static BandwidthCurve saturating(double core, double domain);

  /// `points`: b(1), b(2), ..., at least one; beyond the end the last one holds. A point that gives each process more
  /// than the one before did is lowered to what gives the same: company never makes a process faster, and the virtual
  /// socket's waiting relies on it.
  explicit BandwidthCurve(std::vector<double> points);

  double of_each(int processes) const;  ///< b(n) / n, for n >= 1.
  double of_all(int processes) const { return processes == 0 ? 0 : processes * of_each(processes); }

 private:
  std::vector<double> of_each_;  ///< For 1, 2, ... processes; never grows.
  double saturated_;
};

}  // namespace idlewave::kernels
