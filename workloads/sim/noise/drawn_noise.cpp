#include "workloads/sim/noise/drawn_noise.h"

#include <algorithm>
#include <cmath>

#include "workloads/sim/noise/counter_random.h"
#include "workloads/sim/noise/portable_math.h"

namespace idlewave::sim::noise {
namespace {

std::uint64_t bits_of(std::uint64_t key, Rank rank, Step step) {
  return bits_at(key, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(step));
}

double normal(Draws& draws) {
  for (;;) {
    const double x = 2 * draws.unit() - 1;
    const double y = 2 * draws.unit() - 1;
    const double square = x * x + y * y;
    if (square < 1) return x * std::sqrt(-2 * portable_log(square) / square);
  }
}

/// Gamma of shape d + 1/3 >= 1 and scale 1.
double gamma(Draws& draws, double d, double c) {
  for (;;) {
    const double x = normal(draws);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (portable_log(draws.unit()) < 0.5 * x * x + d - d * v + d * portable_log(v)) return d * v;
  }
}

}  // namespace

ExponentialNoise::ExponentialNoise(double mean, std::uint64_t seed) : mean_(mean), key_(key_of(seed)) {}

double ExponentialNoise::after(Rank rank, Step step, double /*begin*/, double /*end*/) const {
  // Rounding could put the logarithm of a number just below 1 just above 0.
  return mean_ * std::max(0.0, -portable_log(unit_of(bits_of(key_, rank, step))));
}

UniformNoise::UniformNoise(double mean, std::uint64_t seed) : width_(2 * mean), key_(key_of(seed)) {}

double UniformNoise::after(Rank rank, Step step, double /*begin*/, double /*end*/) const {
  return width_ * unit_of(bits_of(key_, rank, step));
}

GammaNoise::GammaNoise(double shape, double mean, std::uint64_t seed)
    : scale_(mean / shape),
      boost_(shape < 1 ? 1 / shape : 0),
      d_((shape < 1 ? shape + 1 : shape) - 1.0 / 3),
      c_(1 / std::sqrt(9 * d_)),
      key_(key_of(seed)) {}

double GammaNoise::after(Rank rank, Step step, double /*begin*/, double /*end*/) const {
  Draws draws{bits_of(key_, rank, step)};
  const double drawn = scale_ * gamma(draws, d_, c_);
  return boost_ > 0 ? drawn * portable_exp(std::min(0.0, boost_ * portable_log(draws.unit()))) : drawn;
}

RareNoise::RareNoise(double probability, double duration, std::uint64_t seed)
    : probability_(probability), duration_(duration), key_(key_of(seed)) {}

double RareNoise::after(Rank rank, Step step, double /*begin*/, double /*end*/) const {
  return unit_of(bits_of(key_, rank, step)) < probability_ ? duration_ : 0;
}

}  // namespace idlewave::sim::noise
