#include "workloads/sparse/kernel.h"

#include <algorithm>

namespace idlewave::sparse {
namespace {

double row_product(const Crs& a, std::size_t row, const double* x) {
  double sum = 0;
  for (std::size_t i = a.start[row]; i < a.start[row + 1]; ++i) sum += a.value[i] * x[a.column[i]];
  return sum;
}

}  // namespace

void multiply(const Crs& a, const Range& rows, const double* x, double* y) {
  for (std::size_t row = rows.begin; row < rows.end; ++row) y[row] = row_product(a, row, x);
}

void multiply_and_add(const Crs& a, const Range& rows, const double* x, double* y) {
  for (std::size_t row = rows.begin; row < rows.end; ++row) y[row] += row_product(a, row, x);
}

std::vector<Range> shared_out(const Crs& a, int threads) {
  std::vector<Range> ranges;
  std::size_t begin = 0;
  for (int thread = 0; thread < threads; ++thread) {
    const std::size_t up_to = share_of(a.nonzeros(), thread, threads).end;
    const auto found = std::lower_bound(a.start.begin(), a.start.end(), up_to);
    const std::size_t end = thread + 1 == threads ? a.rows() : static_cast<std::size_t>(found - a.start.begin());
    ranges.push_back({begin, std::max(begin, end)});
    begin = ranges.back().end;
  }
  return ranges;
}

Range share_of(std::size_t elements, int number, int threads) {
  const auto of = static_cast<std::size_t>(threads), own = static_cast<std::size_t>(number);
  return {elements * own / of, elements * (own + 1) / of};
}

}  // namespace idlewave::sparse
