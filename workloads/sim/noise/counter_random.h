#pragma once
// Random numbers by place, not by order: which one a rank gets in a step depends on the seed, the rank and the step
// alone, so it is the same on every machine, in any order and with any number of threads. (The idea is that of Salmon,
// Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3, SC11.) Integers, and conversions that are exact.

#include <cstdint>

namespace idlewave::sim::noise {

/// 2^64 / golden ratio, odd: the step of SplitMix.
inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

/// A bijection of 64 bits in which each bit of the input changes each bit of the output with probability 1/2, nearly:
/// the finalizer of SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014), with
/// Stafford's constants (variant 13).
constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// What a seed stands for: neighbouring seeds have unrelated keys.
constexpr std::uint64_t key_of(std::uint64_t seed) { return mixed(seed + kGolden); }

/// 64 random bits for one place in a plane, such as (rank, step). The second coordinate enters by xor and not by
/// addition, so that no row is a shifted copy of another.
constexpr std::uint64_t bits_at(std::uint64_t key, std::uint64_t row, std::uint64_t column) {
  return mixed(mixed(key + row * kGolden) ^ (column * 0xd1342543de82ef95));
}

/// An odd multiple of 2^-53 in (0, 1), all equally likely: never 0, never 1, and exact.
constexpr double unit_of(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

/// Further numbers for one place, where one is not enough: SplitMix64 from there on.
class Draws {
 public:
  explicit constexpr Draws(std::uint64_t bits) : state_(bits) {}
  constexpr double unit() { return unit_of(mixed(state_ += kGolden)); }

 private:
  std::uint64_t state_;
};

}  // namespace idlewave::sim::noise
