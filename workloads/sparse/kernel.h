#pragma once
// The loops of a product, and how threads share them; schubert-2011, listing 1 and section 3.5.

#include <cstddef>
#include <vector>

#include "workloads/sparse/halo.h"

namespace idlewave::sparse {

/// Rows of a matrix, or elements of a buffer.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// y = A x, of some rows.
void multiply(const Crs& a, const Range& rows, const double* x, double* y);

/// y = y + A x.
void multiply_and_add(const Crs& a, const Range& rows, const double* x, double* y);

/// The rows of each of so many threads: consecutive ones, with as many nonzeros as whole rows allow.
std::vector<Range> shared_out(const Crs& a, int threads);

/// What thread `number` has of `elements`.
Range share_of(std::size_t elements, int number, int threads);

}  // namespace idlewave::sparse
