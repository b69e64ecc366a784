#pragma once
// Sparse matrices that no rank holds as a whole.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace idlewave::sparse {

using Index = std::int64_t;  ///< Of a row or a column of the whole matrix, from 0.

struct Entry {
  Index column = 0;
  double value = 0;
};

/// A square matrix each of whose rows can be made by itself, on any rank, the same on all.
struct Matrix {
  Index rows = 0;
  bool symmetric = false;
  /// Appends the entries of a row, in ascending order of columns, each column once. Any thread.
  std::function<void(Index row, std::vector<Entry>& out)> append_row;
};

/// Most rows that a generated matrix may have: sums of columns and entries stay exact.
inline constexpr double kMostRows = 1e12;

}  // namespace idlewave::sparse
