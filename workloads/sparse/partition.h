#pragma once
// Which rank has which rows, and with them which elements of the vectors; schubert-2011, section 3.2.

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/sparse/matrix.h"

namespace idlewave::sparse {

/// Part k has the rows [bounds[k], bounds[k + 1]): one number more than parts, from 0 to the number of rows, none below
/// the one before it. Parts may be empty.
using Bounds = std::vector<Index>;

/// As many rows in each part as in any other, or one more. parts >= 1.
Bounds bounds_by_rows(Index rows, int parts);

/// Consecutive rows, and how many entries each has.
struct Slice {
  Index first = 0;
  std::span<const std::uint32_t> entries;
  std::int64_t before = 0;  ///< Entries of all rows before them.
};

/// Parts with as many entries as whole rows allow: part k begins at the first row before which there are k / parts of
/// the `total` entries, so no part has more than total / parts and what one row has. Gives the bounds that lie behind a
/// row of `slice`, 0 for the others: the largest of what all slices of a matrix give are its bounds. The last bound is
/// the end of the slice. total >= 1.
Bounds bounds_by_entries(const Slice& slice, std::int64_t total, int parts);

/// Whose part a row is in, below bounds.back(). O(log parts).
int part_with(const Bounds& bounds, Index row);

}  // namespace idlewave::sparse
