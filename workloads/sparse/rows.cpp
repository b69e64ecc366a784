#include "workloads/sparse/rows.h"

#include <algorithm>
#include <tuple>

namespace idlewave::sparse {

Rows rows_of(const Matrix& matrix, Index first, Index end) {
  Rows rows{first};
  for (Index row = first; row < end; ++row) {
    matrix.append_row(row, rows.entries);
    rows.start.push_back(rows.entries.size());
  }
  return rows;
}

Rows rows_of(std::vector<Triplet> triplets, Index first, Index end) {
  std::stable_sort(triplets.begin(), triplets.end(), [](const Triplet& a, const Triplet& b) {
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  });
  Rows rows{first};
  auto next = triplets.begin();
  for (Index row = first; row < end; ++row) {
    for (; next != triplets.end() && next->row == row; ++next) {
      const bool again = rows.entries.size() > rows.start.back() && rows.entries.back().column == next->column;
      if (again) {
        rows.entries.back().value += next->value;
      } else {
        rows.entries.push_back({next->column, next->value});
      }
    }
    rows.start.push_back(rows.entries.size());
  }
  return rows;
}

}  // namespace idlewave::sparse
