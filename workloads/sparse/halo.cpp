#include "workloads/sparse/halo.h"

#include <algorithm>
#include <limits>

namespace idlewave::sparse {
namespace {

bool is_own(const Rows& rows, Index column) { return column >= rows.first && column < rows.end(); }

std::vector<Index> columns_of_others(const Rows& rows) {
  std::vector<Index> columns;
  for (const Entry& entry : rows.entries)
    if (!is_own(rows, entry.column)) columns.push_back(entry.column);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

std::int32_t place_in(const Halo& halo, Index column) {
  return static_cast<std::int32_t>(std::lower_bound(halo.columns.begin(), halo.columns.end(), column) -
                                   halo.columns.begin());
}

/// `place(entry)`: where an entry's element stands; below 0: the entry is left out.
template <class Place>
Crs compressed(const Rows& rows, Place place) {
  Crs crs;
  for (Index row = 0; row < rows.count(); ++row) {
    for (const Entry& entry : rows.row(row)) {
      const std::int32_t column = place(entry);
      if (column < 0) continue;
      crs.column.push_back(column);
      crs.value.push_back(entry.value);
    }
    crs.start.push_back(crs.value.size());
  }
  return crs;
}

constexpr std::int32_t kNowhere = -1;

}  // namespace

Halo halo_of(const Rows& rows, const Bounds& bounds) {
  Halo halo{columns_of_others(rows), {}};
  for (std::size_t at = 0; at < halo.columns.size();) {
    const int rank = part_with(bounds, halo.columns[at]);
    const auto end = std::lower_bound(halo.columns.begin(), halo.columns.end(), bounds[std::size_t(rank) + 1]);
    const auto next = static_cast<std::size_t>(end - halo.columns.begin());
    halo.sources.push_back({rank, std::int32_t(at), std::int32_t(next - at)});
    at = next;
  }
  return halo;
}

bool fits(const Rows& rows, const Halo& halo) {
  return rows.count() + static_cast<Index>(halo.columns.size()) <= std::numeric_limits<std::int32_t>::max();
}

Crs whole(const Rows& rows, const Halo& halo) {
  const auto own = static_cast<std::int32_t>(rows.count());
  return compressed(rows, [&](const Entry& entry) {
    return is_own(rows, entry.column) ? std::int32_t(entry.column - rows.first) : own + place_in(halo, entry.column);
  });
}

Crs local_part(const Rows& rows) {
  return compressed(rows, [&](const Entry& entry) {
    return is_own(rows, entry.column) ? std::int32_t(entry.column - rows.first) : kNowhere;
  });
}

Crs nonlocal_part(const Rows& rows, const Halo& halo) {
  return compressed(
      rows, [&](const Entry& entry) { return is_own(rows, entry.column) ? kNowhere : place_in(halo, entry.column); });
}

}  // namespace idlewave::sparse
