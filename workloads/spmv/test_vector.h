#pragma once
// The two vectors that are multiplied in turn, and what must come out. Each element of both is another one, and a product
// with the elements that a rank received for the one before is wrong.

#include <array>
#include <cstddef>
#include <vector>

#include "workloads/sparse/rows.h"

namespace idlewave::spmv {

inline constexpr std::size_t kVectors = 2;

/// x0_j = 1 + (7919 j mod 1009) / 1009, x1_j = 2 - (104729 j mod 997) / 997.
double element(std::size_t vector, sparse::Index j);

/// What some rows of a product must be, by a sum over the entries as they were before anything was distributed.
class Samples {
 public:
  /// At most 100 rows of these, among them the first and the last.
  explicit Samples(const sparse::Rows& rows);

  /// How many of them are not what they must be, by more than rounding. `y`: all rows.
  int wrong(std::size_t vector, const std::vector<double>& y) const;

 private:
  struct Sample {
    std::size_t row = 0;
    std::array<double, kVectors> expected{};
    double tolerance = 0;
  };
  std::vector<Sample> samples_;
};

/// Sums over rows of what holds the products against each other: x1 A x0 and x0 A x1, which are the same if A is
/// symmetric.
struct Forms {
  double x1_A_x0 = 0;
  double x0_A_x1 = 0;
  double magnitude = 0;  ///< |x1| |A| |x0|
};

/// Adds what y = A x, of `vector`, makes of the rows from `first` on.
void add_product(std::size_t vector, const sparse::Rows& rows, const std::vector<double>& y, Forms& forms);

}  // namespace idlewave::spmv
