#include "workloads/sparse/partition.h"

#include <algorithm>

namespace idlewave::sparse {
namespace {

/// whole * part / parts, rounded up, without overflow.
std::int64_t share_up_to(std::int64_t whole, int part, int parts) {
  return whole / parts * part + (whole % parts * part + parts - 1) / parts;
}

}  // namespace

Bounds bounds_by_rows(Index rows, int parts) {
  Bounds bounds;
  for (int part = 0; part <= parts; ++part) bounds.push_back(rows / parts * part + rows % parts * part / parts);
  return bounds;
}

Bounds bounds_by_entries(const Slice& slice, std::int64_t total, int parts) {
  Bounds bounds(static_cast<std::size_t>(parts) + 1, 0);
  std::int64_t before = slice.before;
  int part = 1;
  while (part < parts && share_up_to(total, part, parts) <= before) ++part;
  for (std::size_t row = 0; row < slice.entries.size(); ++row) {
    before += slice.entries[row];
    for (; part < parts && share_up_to(total, part, parts) <= before; ++part)
      bounds[static_cast<std::size_t>(part)] = slice.first + static_cast<Index>(row) + 1;
  }
  bounds.back() = slice.first + static_cast<Index>(slice.entries.size());
  return bounds;
}

int part_with(const Bounds& bounds, Index row) {
  return static_cast<int>(std::upper_bound(bounds.begin(), bounds.end(), row) - bounds.begin()) - 1;
}

}  // namespace idlewave::sparse
