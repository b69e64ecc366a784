#pragma once
// The rows of a matrix, each made or read where it is needed.

#include <optional>

#include "workloads/ranks/place.h"
#include "workloads/sparse/partition.h"
#include "workloads/sparse/rows.h"
#include "workloads/spmv/options.h"

namespace idlewave::spmv {

/// What a rank has, and who has what.
struct Distributed {
  sparse::Bounds bounds;
  sparse::Rows rows;
  bool symmetric = false;
};

/// Over `ranks`, of whom those of `node` share its memory. An Error on any rank is reported by that rank, and then every
/// rank gets nothing. Collective.
std::optional<Distributed> distribute(const Matrix& matrix, Distribution distribution, const ranks::Group& ranks,
                                      const ranks::Group& node);

}  // namespace idlewave::spmv
