#pragma once
// Which of many values are no noise, as they lie far beyond what it comes to.

#include <cstddef>
#include <span>

namespace idlewave::analysis::waves {

/// What comes oftener in what is looked at together is ordinary.
inline constexpr std::size_t kMostOutliers = 4;
/// The values that tell how the noise falls off.
inline constexpr std::size_t kTailValues = 16;
/// Of a value: others that differ from it by less are as long.
inline constexpr double kAsLong = 0.1;

/// How late, and at what time: those of one moment have the same.
struct Excess {
  double value = 0;
  std::size_t moment = 0;
};

/// How many of the first of `values`, descending, are no noise: by what the others tell of how it falls off, or by the largest of
/// each moment alone. Where ranks are held up together, values of one moment are many that hardly differ, or all that are looked
/// at: then those of moments tell more, and else the same. None is below `least`, the unit in which values are known to a ten
/// thousandth. Wrong by chance once in ten thousand times, and by moments a third as often.
std::size_t count_outliers(std::span<const Excess> values, double least);

}  // namespace idlewave::analysis::waves
