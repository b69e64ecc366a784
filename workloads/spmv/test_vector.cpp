#include "workloads/spmv/test_vector.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idlewave::spmv {

using sparse::Entry;
using sparse::Index;

double element(std::size_t vector, Index j) {
  if (vector == 0) return 1 + double(j % 1009 * 7919 % 1009) / 1009;
  return 2 - double(j % 997 * 104729 % 997) / 997;
}

Samples::Samples(const sparse::Rows& rows) {
  constexpr Index kMost = 100;
  const Index some = std::min(rows.count(), kMost);
  for (Index number = 0; number < some; ++number) {
    const Index row = some == 1 ? 0 : number * (rows.count() - 1) / (some - 1);
    Sample sample{static_cast<std::size_t>(row)};
    double magnitude = 0;
    for (const Entry& entry : rows.row(row)) {
      for (std::size_t vector = 0; vector < kVectors; ++vector)
        sample.expected[vector] += entry.value * element(vector, entry.column);
      magnitude += 2 * std::abs(entry.value);
    }
    sample.tolerance = magnitude * double(rows.row(row).size() + 2) * std::numeric_limits<double>::epsilon();
    samples_.push_back(sample);
  }
}

int Samples::wrong(std::size_t vector, const std::vector<double>& y) const {
  return static_cast<int>(std::ranges::count_if(samples_, [&](const Sample& sample) {
    return !(std::abs(y[sample.row] - sample.expected[vector]) <= sample.tolerance);
  }));
}

void add_product(std::size_t vector, const sparse::Rows& rows, const std::vector<double>& y, Forms& forms) {
  double& form = vector == 0 ? forms.x1_A_x0 : forms.x0_A_x1;
  for (Index row = 0; row < rows.count(); ++row) {
    const double left = element(1 - vector, rows.first + row);
    form += left * y[std::size_t(row)];
    if (vector != 0) continue;
    for (const Entry& entry : rows.row(row)) forms.magnitude += left * std::abs(entry.value) * element(0, entry.column);
  }
}

}  // namespace idlewave::spmv
