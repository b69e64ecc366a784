#pragma once
// What a rank needs of the vectors of others, and its rows as compressed rows (CRS) of what it has then.

#include <cstdint>
#include <vector>

#include "workloads/sparse/partition.h"
#include "workloads/sparse/rows.h"

namespace idlewave::sparse {

/// Elements of others, which stand behind a rank's own ones in its vector, in the order of their numbers: so those of
/// one rank stand together.
struct Halo {
  struct Source {
    int rank = 0;
    std::int32_t first = 0;  ///< Of its elements in the halo.
    std::int32_t count = 0;  ///< At least 1.
  };
  std::vector<Index> columns;
  std::vector<Source> sources;  ///< In the order of ranks.
};

/// Of rows that are one part of `bounds`.
Halo halo_of(const Rows& rows, const Bounds& bounds);

/// Whether elements and halo can be numbered by 32 bits, as CRS does.
bool fits(const Rows& rows, const Halo& halo);

/// Compressed row storage of schubert-2011, listing 1.
struct Crs {
  std::vector<std::size_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;

  std::size_t rows() const { return start.size() - 1; }
  std::size_t nonzeros() const { return value.size(); }
};

/// Columns are places in the vector of the rank with its halo.
Crs whole(const Rows& rows, const Halo& halo);
Crs local_part(const Rows& rows);                       ///< Of its own elements; the places of these.
Crs nonlocal_part(const Rows& rows, const Halo& halo);  ///< Of the halo; the places in the halo.

}  // namespace idlewave::sparse
