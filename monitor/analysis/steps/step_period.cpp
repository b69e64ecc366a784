#include "monitor/analysis/steps/step_period.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace idlewave::analysis::steps {
namespace {

constexpr std::size_t kFewest = 32, kTimes = 8;
/// One of so many may be longer than all others.
constexpr std::size_t kUnlike = 16;
/// Of all variance, between kinds of steps.
constexpr float kExplained = 0.85F, kStillExplained = 0.5F;
/// A longer period leaves so much less of it within its kinds, where there is more than half of the contrast.
constexpr float kLessLeft = 0.25F;

using Values = std::array<float, kValuesForPeriod>;

/// Beyond their mean, the few longest cut.
std::span<const float> even_out(std::span<const float> latest, Values& values) {
  const auto end = std::ranges::copy(latest, values.begin()).out;
  const auto most = values.begin() + std::ptrdiff_t(latest.size() / kUnlike);
  std::nth_element(values.begin(), most, end, std::greater());
  std::ranges::transform(latest, values.begin(), [most = *most](float each) { return std::min(each, most); });
  const float mean = std::accumulate(values.begin(), end, 0.F) / float(latest.size());
  for (float& each : std::span(values).first(latest.size())) each -= mean;
  return std::span(values).first(latest.size());
}

/// Sums of squares, beyond the mean of all.
struct Variance {
  float between = 0, within = 0;
  float contrast = 0;  ///< Between the shortest kind of steps and the longest.
  bool is_explained(float share) const { return between > share * (between + within); }
};

Variance variance_of(std::span<const float> values, std::size_t period) {
  std::array<float, kLongestPeriod> sums{};
  float squares = 0;
  for (std::size_t i = 0, kind = 0; i < values.size(); ++i, kind = kind + 1 < period ? kind + 1 : 0)
    sums[kind] += values[i], squares += values[i] * values[i];
  Variance variance;
  float least = 0, most = 0;
  for (std::size_t kind = 0; kind < period; ++kind) {
    const float mean = sums[kind] / float((values.size() - kind + period - 1) / period);
    variance.between += sums[kind] * mean;
    least = std::min(least, mean), most = std::max(most, mean);
  }
  variance.within = std::max(0.F, squares - variance.between);
  variance.contrast = most - least;
  return variance;
}

}  // namespace

std::size_t step_period(std::span<const float> parts, float contrast, std::size_t known) {
  if (parts.size() < kFewest) return 1;
  const auto [least, most] = std::ranges::minmax(parts);
  if (most - least < contrast) return 1;
  const float little = contrast * contrast / 4;
  std::size_t best = 1;
  float left = 0;
  Values values;
  for (std::size_t period = 2; period <= kLongestPeriod; ++period) {
    const std::size_t count = std::clamp(kTimes * period, kFewest, kValuesForPeriod);
    if (parts.size() < count) break;
    const Variance variance = variance_of(even_out(parts.last(count), values), period);
    const float within = variance.within / float(count - period);
    if (best > 1 && (within > kLessLeft * left || left < little)) continue;
    if (variance.contrast < contrast || !variance.is_explained(period == known ? kStillExplained : kExplained))
      continue;
    best = period, left = within;
  }
  return best;
}

}  // namespace idlewave::analysis::steps
