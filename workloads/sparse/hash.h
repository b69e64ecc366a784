#pragma once

#include <cstdint>

namespace idlewave::sparse {

/// Numbers that look random and are the same everywhere (splitmix64, S. Vigna, public domain).
inline std::uint64_t hash(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

inline std::uint64_t hash(std::uint64_t first, std::uint64_t second) { return hash(hash(first) ^ second); }

/// In [0, 1).
inline double unit(std::uint64_t hashed) { return static_cast<double>(hashed >> 11) * 0x1p-53; }

}  // namespace idlewave::sparse
