#pragma once
// After how many steps a rank does the same again: short and long steps may alternate, or every n-th may have more to do.

#include <cstddef>
#include <span>

namespace idlewave::analysis::steps {

constexpr std::size_t kLongestPeriod = 10;
/// So many values tell any period.
constexpr std::size_t kValuesForPeriod = 64;

/// 1 where they do not repeat. `parts`: what a rank did itself in each of its latest steps, one after another, at most
/// `kValuesForPeriod`; few that are longer than all others count as the longest of those. Looked at are the latest 32, or as
/// many as come eight times, up to 64. Kinds of steps differ by `contrast` at least, in their means, and account for 85 % of
/// all variance, or for half of it with the period `known` so far: an F statistic of 34 and more. Noise that is drawn for
/// each step has that by chance in a few of a million windows where it is rare, and in fewer where it is even.
/// Costs less than a thousand operations, and few where values differ by less than `contrast`.
std::size_t step_period(std::span<const float> parts, float contrast, std::size_t known = 1);

}  // namespace idlewave::analysis::steps
