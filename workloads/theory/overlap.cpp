#include "workloads/theory/overlap.h"

#include <algorithm>

namespace idlewave::theory {

double overlap_bound(double beta) { return overlap_bound(beta, 1); }

double overlap_bound(double beta, double inflation) { return 1 + std::min(beta / inflation, inflation / beta); }

}  // namespace idlewave::theory
