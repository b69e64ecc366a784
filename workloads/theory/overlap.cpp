#include "workloads/theory/overlap.h"

#include <algorithm>

namespace idlewave::theory {

double blocking_time(std::span<const Stretch> stretches, double last_work) {
  double time = last_work;
  for (const Stretch& each : stretches) time += each.communication + each.noise + each.work;
  return time;
}

double overlapped_time(std::span<const Stretch> stretches, double last_work) {
  double time = last_work;
  for (const Stretch& each : stretches) {
    const double communication = each.communication + each.noise;
    time += each.collective ? std::max(communication, each.work) : communication + each.work;
  }
  return time;
}

double overlap_bound(double beta) { return overlap_bound(beta, 1); }

double overlap_bound(double beta, double inflation) { return 1 + std::min(beta / inflation, inflation / beta); }

}  // namespace idlewave::theory
