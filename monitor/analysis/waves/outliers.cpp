#include "monitor/analysis/waves/outliers.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace idlewave::analysis::waves {
namespace {

/// How likely something may be found where there is noise alone, with one value left out of what tells how the noise falls
/// off; with each one more a third of that. One in ten thousand in sum; and a third of that by moments.
constexpr double kByChance = 6e-5, kByChanceOfMoments = kByChance / 3, kForOneMore = 1.0 / 3;
/// Of the least excess. Values are known no better, so that one of many that are the same lies beyond none of them.
constexpr double kPrecision = 1e-4;

/// That `count` of `left_out` values lie `far` beyond all others, in units of what `kTailValues` of those tell of how far values lie
/// beyond one another. Of exponential noise the former know nothing of the latter, whose sum has a gamma distribution (Kimber,
/// 1982, looks from within outwards as well).
double chance(std::size_t count, std::size_t left_out, double far) {
  double choices = 1;
  for (std::size_t i = 0; i < count; ++i) choices *= double(left_out - i) / double(i + 1);
  return choices * std::pow(1 + double(count) * far / double(kTailValues), -double(kTailValues));
}

/// How far values lie beyond the next smaller ones: by those of `values`, descending, behind the first `left_out`, which are
/// as far out at least as the largest of them (Epstein and Sobel, 1953, of life tests that are ended before all have failed).
/// `of_moments`: of each moment the largest alone.
double scale_behind(std::span<const Excess> values, std::size_t left_out, bool of_moments) {
  std::array<Excess, kTailValues + 1> tail{};
  std::size_t count = 0;
  for (std::size_t i = left_out; i < values.size() && count < tail.size(); ++i) {
    const auto so_far = std::span(tail).first(of_moments ? count : 0);
    if (std::ranges::find(so_far, values[i].moment, &Excess::moment) != so_far.end()) continue;
    tail[count++] = {std::max(0.0, values[i].value), values[i].moment};
  }
  const double smallest = tail[kTailValues].value;
  double sum = double(left_out) * (tail[0].value - smallest);
  for (std::size_t i = 0; i < kTailValues; ++i) sum += tail[i].value - smallest;
  return sum / double(kTailValues);
}

/// How many of the first of `values`, descending, are no noise, by what the others tell, or by the largest of each moment
/// alone. Smaller ones that are none either would hide the largest, so any number of them is left out of what tells how the
/// noise falls off, up to the most that there may be. `by_chance`: how likely something may be found in noise alone.
std::size_t count_beyond(std::span<const Excess> values, double least, bool of_moments, double by_chance) {
  std::size_t found = 0;
  double allowed = by_chance;
  for (std::size_t left_out = 1; left_out <= std::min(kMostOutliers, values.size());
       ++left_out, allowed *= kForOneMore) {
    const double next = left_out < values.size() ? std::max(0.0, values[left_out].value) : 0;
    const double scale = std::max(scale_behind(values, left_out, of_moments), kPrecision * least);
    for (std::size_t count = left_out; count > found; --count) {
      const double value = values[count - 1].value;
      if (value > least && (1 - kAsLong) * value > next && chance(count, left_out, (value - next) / scale) < allowed)
        found = count;
    }
  }
  return found;
}

}  // namespace

std::size_t count_outliers(std::span<const Excess> values, double least) {
  return std::max(count_beyond(values, least, false, kByChance), count_beyond(values, least, true, kByChanceOfMoments));
}

}  // namespace idlewave::analysis::waves
