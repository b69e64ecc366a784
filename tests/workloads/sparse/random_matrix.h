#pragma once
// Small matrices for tests, and what they are as a dense one.

#include <algorithm>
#include <vector>

#include "tests/workloads/sparse/seeded.h"
#include "workloads/sparse/partition.h"
#include "workloads/sparse/rows.h"

namespace idlewave::testing_sparse {

using sparse::Bounds;
using sparse::Entry;
using sparse::Index;
using sparse::Rows;

using Dense = std::vector<std::vector<double>>;

/// Values from -1 to 1, nothing in most places; some rows and columns are empty.
inline Dense random_dense(std::mt19937& random, int rows) {
  Dense dense(static_cast<std::size_t>(rows), std::vector<double>(static_cast<std::size_t>(rows)));
  const double share = real(random, 0, 0.6);
  for (auto& row : dense) {
    if (whole(random, 0, 4) == 0) continue;
    for (double& value : row)
      if (real(random, 0, 1) < share) value = real(random, -1, 1);
  }
  return dense;
}

inline sparse::Matrix matrix_of(const Dense& dense) {
  return {Index(dense.size()), false, [dense](Index row, std::vector<Entry>& out) {
            const auto& values = dense[std::size_t(row)];
            for (std::size_t column = 0; column < values.size(); ++column)
              if (values[column] != 0) out.push_back({Index(column), values[column]});
          }};
}

inline Dense dense_of(const sparse::Matrix& matrix) {
  const auto size = static_cast<std::size_t>(matrix.rows);
  Dense dense(size, std::vector<double>(size));
  for (Index row = 0; row < matrix.rows; ++row) {
    std::vector<Entry> entries;
    matrix.append_row(row, entries);
    for (const Entry& entry : entries) dense[std::size_t(row)].at(std::size_t(entry.column)) += entry.value;
  }
  return dense;
}

inline std::vector<double> product_of(const Dense& a, const std::vector<double>& x) {
  std::vector<double> y;
  for (const auto& row : a) {
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) sum += row[i] * x[i];
    y.push_back(sum);
  }
  return y;
}

/// Anything that bounds may be: with empty parts at the beginning, in the middle and at the end.
inline Bounds random_bounds(std::mt19937& random, int rows, int parts) {
  Bounds bounds{0};
  for (int part = 1; part < parts; ++part) bounds.push_back(whole(random, 0, rows));
  bounds.push_back(rows);
  std::sort(bounds.begin(), bounds.end());
  return bounds;
}

}  // namespace idlewave::testing_sparse
