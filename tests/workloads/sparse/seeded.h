#pragma once

#include <cstdlib>
#include <random>

namespace idlewave::testing_sparse {

/// From IDLEWAVE_TEST_SEED, to repeat a failure; else fresh.
inline unsigned any_seed() {
  const char* given = std::getenv("IDLEWAVE_TEST_SEED");
  return given ? unsigned(std::strtoul(given, nullptr, 10)) : std::random_device{}();
}

inline int whole(std::mt19937& random, int from, int to) { return std::uniform_int_distribution<>{from, to}(random); }
inline double real(std::mt19937& random, double from, double to) {
  return std::uniform_real_distribution<>{from, to}(random);
}

}  // namespace idlewave::testing_sparse
