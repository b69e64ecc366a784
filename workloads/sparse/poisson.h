#pragma once
// The Poisson problem on an irregular mesh, which stands for sAMG of schubert-2011, section 1.3.1: about 7 entries a row.

#include "workloads/sparse/matrix.h"

namespace idlewave::sparse {

/// Linear finite elements on triangles in the plane, with boundary values that are given. The inner points of a grid of
/// nearly the square root of `rows` columns are moved by up to a fifth of their distance, and each of its cells has one
/// of its two diagonals, so that a point has 3 to 8 neighbours and 6 on average. Points are numbered along the lines of
/// the grid; `rows` is rounded down to whole lines. rows >= 1.
Matrix poisson(Index rows);

}  // namespace idlewave::sparse
