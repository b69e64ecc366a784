#include "monitor/ingest/clock_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace idlewave::ingest {
namespace {

using timeline::ClockCurve;
using timeline::ClockKnot;
using wire::seconds;

// Nanoseconds and seconds.
constexpr double kStraying = 1e4;     ///< q: (10^-7)^2 / s, in ns^2 / s^3.
constexpr double kUsualDrift = 2e5;   ///< 200 ppm, in ns / s.
constexpr double kLeastSpread = 1e3;  ///< Nothing is known better than to a microsecond.
constexpr double kStrayingBetween = 1e-6;
constexpr double kMostDoubt = 1e-3;  ///< What few samples make of the drift of two clocks that run alike to 200 ppm.
constexpr Nanoseconds kBeyond = std::chrono::seconds(1);

double count(Nanoseconds time) { return double(time.count()); }

/// Symmetric, positive definite, with two diagonals beside the main one; and the right-hand side that belongs to it.
class Band {
 public:
  explicit Band(std::size_t size) : main_(size), next_(size), far_(size), right_(size) {}

  /// Adds weight (sum of coefficients[i] z[first + i] - value)^2 to what is least at the solution.
  void add(std::size_t first, std::span<const double> coefficients, double value, double weight) {
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      const double scaled = weight * coefficients[i];
      right_[first + i] += scaled * value;
      main_[first + i] += scaled * coefficients[i];
      if (i + 1 < coefficients.size()) next_[first + i] += scaled * coefficients[i + 1];
      if (i + 2 < coefficients.size()) far_[first + i] += scaled * coefficients[i + 2];
    }
  }

  /// By L D L^T, once.
  std::vector<double> solve() {
    const std::size_t size = main_.size();
    for (std::size_t i = 0; i < size; ++i) {
      const double next = next_[i] / main_[i], far = far_[i] / main_[i];
      if (i + 1 < size)
        main_[i + 1] -= next * next_[i], next_[i + 1] -= next * far_[i], right_[i + 1] -= next * right_[i];
      if (i + 2 < size) main_[i + 2] -= far * far_[i], right_[i + 2] -= far * right_[i];
      right_[i] /= main_[i], next_[i] = next, far_[i] = far;
    }
    for (std::size_t i = size; i-- > 0;) {
      if (i + 1 < size) right_[i] -= next_[i] * right_[i + 1];
      if (i + 2 < size) right_[i] -= far_[i] * right_[i + 2];
    }
    return std::move(right_);
  }

 private:
  std::vector<double> main_, next_, far_, right_;
};

constexpr double kMost = 1LL << 58;  ///< Any offset, and any error of one.

/// What hostile samples, far apart and all but certain, make of rounding is no number.
Nanoseconds bounded(double offset) {
  return std::isfinite(offset) ? Nanoseconds(std::llround(std::clamp(offset, -kMost, kMost))) : Nanoseconds(0);
}

/// A clock that jumps is followed as fast as session time may be bent.
void limit_slopes(std::vector<ClockKnot>& knots, Nanoseconds spacing) {
  const Nanoseconds most(std::int64_t(ClockCurve::kSteepest * count(spacing)));
  for (std::size_t i = 1; i < knots.size(); ++i)
    knots[i].offset = std::clamp(knots[i].offset, knots[i - 1].offset - most, knots[i - 1].offset + most);
}

/// The median time under way, one way.
double middle_of(std::span<const ClockSample> samples) {
  std::vector<double> halves;
  for (const ClockSample& sample : samples) halves.push_back(count(sample.half));
  const auto middle = halves.begin() + std::ptrdiff_t(halves.size() / 2);
  std::nth_element(halves.begin(), middle, halves.end());
  return *middle;
}

}  // namespace

ClockCurve fit_clock(std::span<const ClockSample> samples, Nanoseconds spacing) {
  const ClockSample& first = samples.front();
  const Nanoseconds span = samples.back().at - first.at;
  if (span < spacing) {
    const auto best = std::ranges::min_element(samples, {}, &ClockSample::half);
    return {{{best->at, best->offset}}, {}};
  }
  const double least = count(std::ranges::min_element(samples, {}, &ClockSample::half)->half);
  Band band(std::size_t(span / spacing) + 2);
  for (const ClockSample& sample : samples) {
    const auto knot = std::size_t((sample.at - first.at) / spacing);
    const double share = count((sample.at - first.at) % spacing) / count(spacing);
    const double spread = std::max(kLeastSpread, least / 4) + count(sample.half) - least;
    band.add(knot, std::array{1 - share, share}, count(sample.offset - first.offset), 1 / (spread * spread));
  }
  const double length = seconds(spacing), usual = kUsualDrift * length;
  band.add(0, std::array{-1.0, 1.0}, 0, 1 / (usual * usual));
  const std::size_t knots = std::size_t(span / spacing) + 2;
  for (std::size_t i = 0; i + 2 < knots; ++i)
    band.add(i, std::array{1.0, -2.0, 1.0}, 0, 1 / (kStraying * length * length * length));
  ClockCurve curve{{}, {}};
  for (const double offset : band.solve())
    curve.knots.push_back({first.at + spacing * std::int64_t(curve.knots.size()), first.offset + bounded(offset)});
  limit_slopes(curve.knots, spacing);
  return curve;
}

Nanoseconds error_of(const ClockCurve& curve, std::span<const ClockSample> samples) {
  std::vector<double> off, least;
  for (const ClockSample& sample : samples) {
    const double beside = std::abs(count(sample.offset - curve.offset_at(sample.at)));
    off.push_back(beside + count(sample.half));
    least.push_back(beside - count(sample.half));
  }
  const double length = count(samples.back().at - samples.front().at);
  const double by_samples = kStrayingBetween + 4 * middle_of(samples) / std::max(length, 1.0);
  const double doubt = length > 0 ? std::min(by_samples, kMostDoubt) : kUsualDrift * 1e-9;
  const auto between = [&](std::size_t i) { return doubt * count(samples[i].at - samples[i - 1].at); };
  for (std::size_t i = 1; i < off.size(); ++i) off[i] = std::min(off[i], off[i - 1] + between(i));
  for (std::size_t i = off.size(); i-- > 1;) off[i - 1] = std::min(off[i - 1], off[i] + between(i));
  // A clock that jumped strays by more than is assumed between samples; what they exclude is wrong all the same.
  for (std::size_t i = 0; i < off.size(); ++i) off[i] = std::max(off[i], least[i]);
  double most = std::max(off.front(), off.back()) + doubt * count(kBeyond);
  // Between two samples both of them tell, the nearer one more.
  for (std::size_t i = 1; i < off.size(); ++i) most = std::max(most, (off[i - 1] + off[i] + between(i)) / 2);
  return Nanoseconds(std::llround(std::ceil(most < kMost ? most : kMost)));
}

}  // namespace idlewave::ingest
