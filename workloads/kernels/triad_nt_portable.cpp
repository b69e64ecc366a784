// For processors on which we know no non-temporal store.

#include "workloads/kernels/stream.h"

namespace idlewave::kernels {

const bool kHasNonTemporalStores = false;

void triad_nt(std::span<double> a, std::span<const double> b, std::span<const double> c, double s) {
  triad(a, b, c, s);
}

}  // namespace idlewave::kernels
