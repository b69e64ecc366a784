#pragma once
// The earliest of many pending moments.

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace idlewave::sim::contention {

/// A number for each place; the smallest at once, a change in O(log8 places), and mostly cheaper since a change that
/// leaves the smallest of its eight alone goes no further. Eight doubles are one cache line.
class MinTree {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  explicit MinTree(std::size_t places) {
    do {
      places = (places + kWidth - 1) / kWidth;
      levels_.emplace_back(places);
      for (Line& line : levels_.back()) line.values.fill(kNever);
    } while (places > 1);
  }

  double smallest() const { return smallest_of(levels_.back().front()); }

  /// The first place that holds the smallest number.
  std::size_t place() const {
    std::size_t at = 0;
    for (std::size_t level = levels_.size(); level-- > 0;) {
      const Line& line = levels_[level][at];
      const auto found = std::ranges::find(line.values, smallest_of(line));
      at = at * kWidth + static_cast<std::size_t>(found - line.values.begin());
    }
    return at;
  }

  void set(std::size_t place, double value) {
    for (auto& level : levels_) {
      Line& line = level[place / kWidth];
      const double before = smallest_of(line);
      line.values[place % kWidth] = value;
      value = smallest_of(line);
      if (value == before) return;
      place /= kWidth;
    }
  }

  static std::size_t bytes_for(std::size_t places) { return places * sizeof(double) * kWidth / (kWidth - 1) + 512; }

 private:
  static constexpr std::size_t kWidth = 8;
  struct alignas(64) Line {
    std::array<double, kWidth> values;
  };

  static double smallest_of(const Line& line) {
    const auto& v = line.values;
    return std::min(std::min(std::min(v[0], v[1]), std::min(v[2], v[3])),
                    std::min(std::min(v[4], v[5]), std::min(v[6], v[7])));
  }

  std::vector<std::vector<Line>> levels_;  // leaves first
};

}  // namespace idlewave::sim::contention
