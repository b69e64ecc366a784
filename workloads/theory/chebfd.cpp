#include "workloads/theory/chebfd.h"

namespace idlewave::theory {

double chebfd_code_balance(double block_vectors) { return (260 / block_vectors + 80) / 146; }

}  // namespace idlewave::theory
