#pragma once
// Bulk-synchronous programs of every kind for the slow simulation, in which ranks are delayed.

#include <random>
#include <string>

#include "tests/workloads/exact_run.h"

namespace idlewave::test {

/// Core-bound or memory-bound; near and far partners, rings and chains, eager and rendezvous, one wait or several.
class RandomWavePrograms {
 public:
  explicit RandomWavePrograms(unsigned seed) : seed_(seed), random_(seed) {}
  unsigned seed() const { return seed_; }

  /// Noise: exponential, of that mean in steps.
  tests::ExactProgram next(bool memory, double noise);
  /// The first, and one or two more on other ranks within ten steps.
  tests::ExactProgram next_with_several(bool memory, double noise);
  /// Any of the simulator's noises, of at most that mean in steps, often enough to be noise.
  tests::ExactProgram next_noisy(bool memory, double most);
  /// Drawn anew for each rank and step, so that it is the same with a delay and without, of at most that mean in steps.
  void add_drawn_noise(tests::ExactProgram& program, double most);
  /// Up to that share of a step each.
  void let_messages_take_time(tests::ExactProgram& program, double most);

  support::Delay delay(const tests::ExactProgram& program, double steps);
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }

 private:
  decltype(support::Noise::distribution) noise(double mean, double step);
  tests::ExactProgram silent(bool memory);
  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(random_); }

  unsigned seed_;
  std::mt19937 random_;
};

std::string words_of(const tests::ExactProgram& program);

}  // namespace idlewave::test
