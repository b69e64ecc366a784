#include "workloads/theory/hybrid.h"

#include <algorithm>

namespace idlewave::theory {

double funneled_reserved_ratio(const Masteronly& program, int threads, int reserved) {
  const double n = threads, m = reserved;
  const double rest = 1 - program.communication - program.overlap;
  return 1 / (rest + std::max(program.communication / m, program.overlap * n / (n - m)));
}

double best_reserved_ratio(int threads, int reserved) { return 1 + reserved * (1 - 1.0 / threads); }

double worst_reserved_ratio(int threads, int reserved) { return 1 - double(reserved) / threads; }

}  // namespace idlewave::theory
