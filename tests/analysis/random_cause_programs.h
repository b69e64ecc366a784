#pragma once
// Bulk-synchronous programs of every kind for the slow simulation, in which ranks wait for various causes.

#include <random>
#include <string>

#include "tests/workloads/exact_run.h"

namespace idlewave::test {

/// Noise, delays, messages that take time, shared bandwidth.
class RandomCausePrograms {
 public:
  explicit RandomCausePrograms(unsigned seed) : random_(seed) {}

  tests::ExactProgram next(bool memory = false);

  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(random_); }
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }

 private:
  std::mt19937 random_;
};

}  // namespace idlewave::test
