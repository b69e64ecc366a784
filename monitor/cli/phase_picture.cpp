#include "monitor/cli/phase_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace idlewave::cli {
namespace {

constexpr int kColumns = 51;

/// Against their mean, in radians.
std::vector<double> offsets(const theory::PhaseMoment& moment) {
  std::vector<double> offsets = moment.phases;
  const double mean = std::accumulate(offsets.begin(), offsets.end(), 0.0) / double(offsets.size());
  for (double& each : offsets) each -= mean;
  return offsets;
}

std::string columns(const std::vector<double>& offsets, double widest) {
  std::array<int, kColumns> counts{};
  for (const double each : offsets) {
    const auto column = std::lround((each / widest + 1) / 2 * (kColumns - 1));
    ++counts[std::size_t(std::clamp(column, 0L, kColumns - 1L))];
  }
  std::string text;
  for (const int count : counts) text += count == 0 ? ' ' : count > 9 ? '+' : char('0' + count);
  return text;
}

}  // namespace

theory::PhaseOrder order_of(const theory::PhaseMoment& moment) {
  std::vector<double> turns = moment.phases;
  for (double& each : turns) each /= 2 * std::numbers::pi;
  return theory::phase_order(turns);
}

std::string phase_picture(std::span<const theory::PhaseMoment> course) {
  double widest = 0.01;
  for (const auto& moment : course)
    for (const double each : offsets(moment)) widest = std::max(widest, std::abs(each));
  std::string text = fmt::format("  {:>10}  {:<24}0{:>26}  {:>6}\n", "s", fmt::format("{:.3g} rad", -widest),
                                 fmt::format("{:.3g} rad", widest), "order");
  for (const auto& moment : course)
    text += fmt::format("  {:>10.4g} |{}| {:>6.3f}\n", moment.at, columns(offsets(moment), widest),
                        order_of(moment).parameter);
  return text + "\n  Ranks in a column, by their phase against the mean: a digit is how many, + is more than nine.\n";
}

}  // namespace idlewave::cli
