#pragma once
// Where tests of random inputs begin.

#include <cstdio>
#include <cstdlib>
#include <random>

namespace idlewave {

/// From IDLEWAVE_TEST_SEED, to repeat a failure; else fresh. Printed, which is seen where the test fails.
inline unsigned any_seed() {
  const char* given = std::getenv("IDLEWAVE_TEST_SEED");
  const unsigned seed = given != nullptr ? unsigned(std::strtoul(given, nullptr, 10)) : std::random_device{}();
  std::printf("IDLEWAVE_TEST_SEED=%u\n", seed);
  return seed;
}

}  // namespace idlewave
