#include "monitor/analysis/order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>

#include "monitor/analysis/step_history.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;

constexpr double kTurn = 2 * std::numbers::pi;
constexpr int kBins = 16;

/// In turns; nothing for a rank that is in no step.
std::optional<double> turns_at(const Lane& lane, Nanoseconds at, Nanoseconds typical) {
  if (was_silent(lane, at)) return std::nullopt;
  const std::size_t begun = lane.steps_begun_before(at + Nanoseconds{1});
  if (begun == 0) return std::nullopt;
  const StepRecord record = lane.steps()[begun - 1];
  return double(record.step) + std::min(1.0, double((at - record.begin).count()) / double(typical.count()));
}

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

std::optional<Order> order_at(const Timeline& timeline, Nanoseconds at) {
  const Nanoseconds typical = typical_step_length(timeline, at);
  if (typical <= Nanoseconds{0}) return std::nullopt;
  std::vector<double> turns;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    const auto each = lane ? turns_at(*lane, at, typical) : std::nullopt;
    if (each) turns.push_back(*each);
  }
  if (turns.size() < 2) return std::nullopt;
  const std::complex<double> mean = mean_of(turns);
  const auto [low, high] = std::ranges::minmax(turns);
  return Order{.at = at,
               .ranks = int(turns.size()),
               .parameter = std::min(1.0, std::abs(mean)),
               .entropy = entropy_of(turns, std::arg(mean) / kTurn),
               .gradient = gradient_of(turns),
               .difference = kTurn * (high - low)};
}

std::vector<Order> order_over(const Timeline& timeline, Window window, int points) {
  std::vector<Order> orders;
  for (int i = 0; i < points; ++i) {
    const Nanoseconds last = window.to - Nanoseconds{1};
    const double part = points > 1 ? double(i) / double(points - 1) : 1;
    const auto at = window.from + Nanoseconds(std::llround(part * double((last - window.from).count())));
    if (const auto order = order_at(timeline, at)) orders.push_back(*order);
  }
  return orders;
}

}  // namespace idlewave::analysis
