#pragma once
// The rows that one rank has, with the columns of the whole matrix.

#include <cstddef>
#include <span>
#include <vector>

#include "workloads/sparse/matrix.h"

namespace idlewave::sparse {

/// An entry as files have it, and as it travels between ranks.
struct Triplet {
  Index row = 0;
  Index column = 0;
  double value = 0;
};

/// Consecutive rows.
struct Rows {
  Index first = 0;
  std::vector<std::size_t> start{0};  ///< Where each row begins among the entries, and the end of the last.
  std::vector<Entry> entries;         ///< Of each row in ascending order of columns, each column once.

  Index count() const { return static_cast<Index>(start.size()) - 1; }
  Index end() const { return first + count(); }
  std::span<const Entry> row(Index own) const {
    return {entries.data() + start[std::size_t(own)], entries.data() + start[std::size_t(own) + 1]};
  }
};

/// Rows [first, end).
Rows rows_of(const Matrix& matrix, Index first, Index end);

/// Rows [first, end) of entries in any order that all belong there; those of one place are added.
Rows rows_of(std::vector<Triplet> triplets, Index first, Index end);

}  // namespace idlewave::sparse
