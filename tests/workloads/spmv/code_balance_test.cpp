#include "workloads/theory/spmv.h"

#include <gtest/gtest.h>

namespace idlewave::theory {
namespace {

// schubert-2011, section 3.1: Nehalem EP, a socket, the matrix HMEp with 15 nonzeros in a row; UHBR with 123.
TEST(SparseMatrixVector, HasThePerformanceThatItsCodeBalanceAllows) {
  EXPECT_NEAR(18.1e9 / crs_code_balance(15, 0), 2.66e9, 0.005e9);
  EXPECT_NEAR(21.2e9 / crs_code_balance(15, 0), 3.12e9, 0.005e9);
}

TEST(SparseMatrixVector, TellsKappaByBandwidthAndPerformance) {
  EXPECT_NEAR(kappa_of(18.1e9, 2.25e9, 15), 2.5, 0.05);
  EXPECT_NEAR(kappa_of(18.9e9, 2.99e9, 123), 0.43, 0.03);
  EXPECT_NEAR(kappa_of(crs_code_balance(40, 1.25) * 3e9, 3e9, 40), 1.25, 1e-12);
  EXPECT_NEAR(split_kappa_of(split_crs_code_balance(40, 1.25) * 3e9, 3e9, 40), 1.25, 1e-12);
}

// Section 3.2: a penalty between 15 and 8 % for 7 to 15 nonzeros in a row.
TEST(SparseMatrixVector, IsSlowerWhereItsResultIsWrittenTwice) {
  EXPECT_NEAR(split_crs_code_balance(7, 0) / crs_code_balance(7, 0), 1.15, 0.005);
  EXPECT_NEAR(split_crs_code_balance(15, 0) / crs_code_balance(15, 0), 1.08, 0.005);
}

}  // namespace
}  // namespace idlewave::theory
