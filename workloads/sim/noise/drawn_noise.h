#pragma once
// Noise that is drawn anew for each rank and step, however long the work was and whenever it ended.

#include <cstdint>

#include "workloads/sim/core/phase_noise.h"

namespace idlewave::sim::noise {

using core::PhaseNoise;
using wire::Rank;
using wire::Step;

/// mean * -log(u).
class ExponentialNoise final : public PhaseNoise {
 public:
  ExponentialNoise(double mean, std::uint64_t seed);  ///< Seconds.
  double after(Rank rank, Step step, double begin, double end) const override;

 private:
  double mean_;
  std::uint64_t key_;
};

/// 2 mean * u.
class UniformNoise final : public PhaseNoise {
 public:
  UniformNoise(double mean, std::uint64_t seed);  ///< Seconds.
  double after(Rank rank, Step step, double begin, double end) const override;

 private:
  double width_;
  std::uint64_t key_;
};

/// Marsaglia, Tsang: A simple method for generating gamma variables, ACM TOMS 26 (2000) 363; below shape 1 by its
/// section 6, a draw of shape + 1 times u^(1/shape). Normal numbers by Marsaglia's polar method.
class GammaNoise final : public PhaseNoise {
 public:
  GammaNoise(double shape, double mean, std::uint64_t seed);  ///< mean: seconds.
  double after(Rank rank, Step step, double begin, double end) const override;

 private:
  double scale_;  ///< mean / shape
  double boost_;  ///< 1 / shape below shape 1, else 0.
  double d_;      ///< As in the paper.
  double c_;
  std::uint64_t key_;
};

/// An interruption of one length, with a probability, or none.
class RareNoise final : public PhaseNoise {
 public:
  RareNoise(double probability, double duration, std::uint64_t seed);  ///< duration: seconds.
  double after(Rank rank, Step step, double begin, double end) const override;

 private:
  double probability_;
  double duration_;
  std::uint64_t key_;
};

}  // namespace idlewave::sim::noise
