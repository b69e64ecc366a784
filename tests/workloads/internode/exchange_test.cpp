#include "workloads/theory/exchange.h"

#include <gtest/gtest.h>

namespace idlewave::theory {
namespace {

// rabenseifner-2007, slides "Orthogonal parallel communication" and "Results of the experiment".
TEST(OrthogonalExchange, OfTheLecturesMachineIsAsItSays) {
  NodeNetwork network = sr8000();
  EXPECT_NEAR(pure_mpi_time(network, 8, 32768), masteronly_time(network, 8, 32768), 1e-12);
  network.latency = 0;
  EXPECT_NEAR(vertical_time(network, 8, 8, 1e6), 9.6e-3, 1e-12);
  EXPECT_NEAR(horizontal_time(network, 1e6), 2.0e-3, 1e-12);
  EXPECT_NEAR(pure_mpi_time(network, 8, 1e6), 11.6e-3, 1e-12);
  EXPECT_NEAR(masteronly_time(network, 8, 1e6), 19.2e-3, 1e-12);
  EXPECT_GT(masteronly_time(network, 8, 1e6) / pure_mpi_time(network, 8, 1e6), 1.6);
}

TEST(OrthogonalExchange, GainsNothingFromMoreProcessesThanFillTheNetwork) {
  const NodeNetwork network{1, 3, 1, 0};
  EXPECT_DOUBLE_EQ(vertical_time(network, 8, 1, 1), 8);
  EXPECT_DOUBLE_EQ(vertical_time(network, 8, 2, 1), 4);
  EXPECT_DOUBLE_EQ(vertical_time(network, 8, 3, 1), vertical_time(network, 8, 8, 1));
}

}  // namespace
}  // namespace idlewave::theory
