#include "monitor/theory/phase_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

namespace idlewave::theory {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr int kBins = 16;

std::complex<double> mean_of(std::span<const double> turns) {
  std::complex<double> sum;
  for (const double each : turns) sum += std::polar(1.0, kTurn * each);
  return sum / double(turns.size());
}

/// `middle`: turns, in the midst of a bin.
double entropy_of(std::span<const double> turns, double middle) {
  std::array<double, kBins> bins{};
  for (const double each : turns) {
    const double from_middle = each - middle + 0.5 / kBins;
    const double part = from_middle - std::floor(from_middle);
    bins[std::min(std::size_t(part * kBins), std::size_t(kBins - 1))] += 1 / double(turns.size());
  }
  double entropy = 0;
  for (const double share : bins)
    if (share > 0) entropy -= share * std::log(share);
  return std::max(0.0, entropy) / std::log(double(kBins));
}

double gradient_of(std::span<const double> turns) {
  double sum = 0;
  for (std::size_t i = 1; i < turns.size(); ++i) sum += std::abs(turns[i] - turns[i - 1]);
  return kTurn * sum / double(turns.size() - 1);
}

}  // namespace

PhaseOrder phase_order(std::span<const double> turns) {
  const std::complex<double> mean = mean_of(turns);
  const auto [low, high] = std::ranges::minmax(turns);
  return {.parameter = std::min(1.0, std::abs(mean)),
          .entropy = entropy_of(turns, std::arg(mean) / kTurn),
          .gradient = gradient_of(turns),
          .difference = kTurn * (high - low)};
}

}  // namespace idlewave::theory
