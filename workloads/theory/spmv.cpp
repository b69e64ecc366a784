#include "workloads/theory/spmv.h"

namespace idlewave::theory {

double crs_code_balance(double nonzeros_per_row, double kappa) { return 6 + 12 / nonzeros_per_row + kappa / 2; }

double split_crs_code_balance(double nonzeros_per_row, double kappa) { return 6 + 20 / nonzeros_per_row + kappa / 2; }

double kappa_of(double bandwidth, double performance, double nonzeros_per_row) {
  return 2 * (bandwidth / performance - crs_code_balance(nonzeros_per_row, 0));
}

double split_kappa_of(double bandwidth, double performance, double nonzeros_per_row) {
  return 2 * (bandwidth / performance - split_crs_code_balance(nonzeros_per_row, 0));
}

}  // namespace idlewave::theory
