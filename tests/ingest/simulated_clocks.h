#pragma once
// Clocks that drift and stray, and round trips between them whose ways are slow by chance: what tests of clocks compare
// estimates with.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <vector>

#include "probe/wire/frame.h"

namespace idlewave::ingest {

using wire::Nanoseconds;

/// Reads true time with an offset and a rate that strays as a random walk, or as straight as it may.
class SimulatedClock {
 public:
  SimulatedClock(std::mt19937_64& random, double length_s, double straying = 1e-7) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::normal_distribution<double> normal;
    double offset = uniform(random) * 1e13, rate = uniform(random) * 1e-4;
    for (double at = 0; at < length_s + 1; at += kStep) {
      offsets_.push_back(offset);
      offset += rate * kStep * 1e9;
      rate += normal(random) * straying * std::sqrt(kStep);
    }
  }
  /// What it shows at a moment of true time, seconds.
  Nanoseconds at(double true_s) const {
    const double place = true_s / kStep;
    const auto index = std::min(std::size_t(place), offsets_.size() - 2);
    const double share = place - double(index);
    return Nanoseconds(std::llround(true_s * 1e9)) +
           Nanoseconds(std::llround(offsets_[index] + share * (offsets_[index + 1] - offsets_[index])));
  }

 private:
  static constexpr double kStep = 0.05;
  std::vector<double> offsets_;
};

/// How long messages are under way, each way for itself.
struct Ways {
  double least_s = 30e-6;
  double asymmetry_s = 0;   ///< What the way there takes longer, always.
  double jitter_s = 50e-6;  ///< Mean of what each way takes longer by chance.
  double lost = 0;          ///< Share of the questions.
};

/// The question of `node` at a true moment, and the answer of `reference`; nothing where one was lost.
inline std::optional<wire::RoundTrip> round_trip(const SimulatedClock& node, const SimulatedClock& reference,
                                                 double true_s, const Ways& ways, std::mt19937_64& random) {
  std::exponential_distribution<double> jitter(1 / ways.jitter_s);
  if (std::uniform_real_distribution<double>()(random) < ways.lost) return std::nullopt;
  const double heard = true_s + ways.least_s + ways.asymmetry_s + jitter(random);
  const double told = heard + 2e-6, back = told + ways.least_s + jitter(random);
  return wire::RoundTrip{node.at(true_s), reference.at(heard), reference.at(told), node.at(back), 7};
}

}  // namespace idlewave::ingest
