#pragma once
// A band with many entries a row, which stands for UHBR of schubert-2011, section 1.3.1: about 123 of them.

#include "workloads/sparse/matrix.h"

namespace idlewave::sparse {

/// Points of a flow with five unknowns each; a point is coupled, by full blocks, to itself and to a fifth of the 60
/// before it and of the 60 behind it, so that there are 5 (1 + 120 * 0.19667) = 123 entries in a row on average, fewer
/// near the ends. Symmetric values in [-1, 1), and 123 on the diagonal. rows >= 1.
Matrix banded(Index rows);

}  // namespace idlewave::sparse
