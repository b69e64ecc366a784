#pragma once
// How many ranks of a domain work at the same time, and what that makes of their shared memory interface.

#include <functional>
#include <span>
#include <vector>

#include "monitor/analysis/steps/step_course.h"
#include "monitor/analysis/window.h"
#include "probe/wire/frame.h"

namespace idlewave::analysis::domains {

/// b(n), bytes per second, of n ranks that work at the same time: of the domain's curve, or of its two figures. Nothing
/// where neither is known.
using Bandwidth = std::function<double(int active)>;
Bandwidth bandwidth_of(const wire::DomainInfo& info);

/// N_sc (afzal-2020, section 2.2): of the domain's curve, if that is known, else b_sat / b(1). 0: not known.
double saturation_point(const wire::DomainInfo& info);

/// When the rank worked in this step. Noise comes behind the work and a delay before it; a record does not tell which of
/// them held the rank, but only a delay is longer than the work.
Window work_of(const steps::StepCourse& course);

/// Of all `ranks`, what lies in `window`: where they worked in each of their steps, by what was known at `at`.
std::vector<Window> work_in(const timeline::Timeline& timeline, std::span<const Rank> ranks, Window window,
                            wire::Nanoseconds at = wire::Nanoseconds::max());

/// What ranks of a domain get done, n of them at work at the same time.
struct Progress {
  double rank_time = 0;  ///< Integral of n, ns.
  double volume = 0;     ///< Integral of b(n), bytes; without a bandwidth as rank_time.
  /// Integral of b(n) / (n b(1)), ns: what one of them got done, by how long it would have taken had it been alone
  /// (afzal-2020, eq. 1).
  double alone = 0;

  Progress later_by(double time, const Progress& rate) const {
    return {rank_time + time * rate.rank_time, volume + time * rate.volume, alone + time * rate.alone};
  }
};

/// What so many ranks get done in a nanosecond; looked up once for each number. `bandwidth` may be nothing, and must
/// outlive it.
class Rates {
 public:
  explicit Rates(const Bandwidth& bandwidth) : bandwidth_(bandwidth), core_(bandwidth ? bandwidth(1) * 1e-9 : 1) {}

  const Progress& of(int active) {
    while (std::ssize(known_) <= active) known_.push_back(rate(int(known_.size())));
    return known_[std::size_t(active)];
  }

 private:
  Progress rate(int active) const;

  const Bandwidth& bandwidth_;
  double core_;
  std::vector<Progress> known_;
};

/// Contention, integrated: a step function of time. `work`: of all ranks of a domain, in any order.
/// `bandwidth` may be nothing: then nobody takes anything from anybody. Immutable.
class Concurrency {
 public:
  Concurrency(std::span<const Window> work, const Bandwidth& bandwidth);

  /// O(log n).
  Progress within(Window window) const { return up_to(window.to).later_by(-1, up_to(window.from)); }
  /// As times_alone.
  const std::vector<double>& alone() const { return alone_; }

 private:
  /// From a moment on: what was done up to there, and what is done in each nanosecond from there.
  struct Level {
    Nanoseconds from{};
    Progress done, rate;
  };
  Progress up_to(Nanoseconds time) const;

  std::vector<Level> levels_;
  std::vector<double> alone_;
};

/// How long each of `work` would have taken alone: Progress::alone within it. Costs less than to ask for each.
std::vector<double> times_alone(std::span<const Window> work, const Bandwidth& bandwidth);

}  // namespace idlewave::analysis::domains
