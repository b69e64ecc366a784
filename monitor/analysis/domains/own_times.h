#pragma once
// What ranks did by themselves, beside what all of them do: the noise of a run.

#include <span>
#include <vector>

#include "monitor/analysis/steps/common_steps.h"
#include "monitor/analysis/steps/work.h"

namespace idlewave::analysis::domains {

/// [rank][index into CommonSteps::numbers]: idle time behind the work of the step, as a simulator takes noise, so that a
/// rank that begins then has done its own part when it did. Work that shares memory bandwidth is done when the domain
/// has served it: each of n active ranks gets b(n) / n (afzal-2020, eq. 1), from the moments at which they began. Less
/// than 0, which no rank can do, is 0.
using OwnNoise = std::vector<std::vector<Nanoseconds>>;

/// Costs n log n of the rank-steps of a domain.
OwnNoise find_own_noise(const steps::CommonSteps& steps, const steps::Work& work, Rank ranks_per_domain);

/// What ranks are taken to have done that had begun when it is not known yet who worked beside them: they were at work
/// until they posted, or not at all.
enum class Before { kAtWork, kIdle };

/// As own noise, and less than 0 where a rank was done before its work could have been: it had less to do. In a domain
/// that shares its bandwidth by what it would still have taken in the company of that moment. `followed_from`, by domain,
/// or empty: from when on it is known who worked beside whom; of what began before nothing is said.
OwnNoise beyond_work(const steps::CommonSteps& steps, const steps::Work& work, Rank ranks_per_domain,
                     std::span<const Nanoseconds> followed_from = {}, Before before = Before::kAtWork);

/// What noise is drawn from, for a run that is like this one.
struct NoiseModel {
  enum class Kind { kNone, kExponential, kUniform, kRare, kGamma };
  Kind kind = Kind::kNone;
  /// That of the run.
  Nanoseconds mean{};
  /// Of a gamma distribution, from mean and variance; of rare noise its probability.
  double shape = 1;
  /// Kolmogorov's: by so much the share of steps with less noise than any figure is wrong at most.
  double distance = 0;
};
NoiseModel fit_noise(const OwnNoise& noise, const steps::Work& work);

}  // namespace idlewave::analysis::domains
