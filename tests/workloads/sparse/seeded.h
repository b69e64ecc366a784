#pragma once

#include <cstdlib>
#include <random>

namespace idlewave::testing_sparse {

inline int whole(std::mt19937& random, int from, int to) { return std::uniform_int_distribution<>{from, to}(random); }
inline double real(std::mt19937& random, double from, double to) {
  return std::uniform_real_distribution<>{from, to}(random);
}

}  // namespace idlewave::testing_sparse
