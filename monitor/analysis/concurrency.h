#pragma once
// How many ranks of a domain work at the same time, and what that makes of their shared memory interface.

#include <functional>
#include <span>
#include <vector>

#include "monitor/analysis/step_course.h"
#include "monitor/analysis/window.h"
#include "probe/wire/frame.h"

namespace idlewave::analysis {

/// b(n), bytes per second, of n ranks that work at the same time: of the domain's curve, or of its two figures. Nothing
/// where neither is known.
using Bandwidth = std::function<double(int active)>;
Bandwidth bandwidth_of(const wire::DomainInfo& info);

/// N_sc (afzal-2020, section 2.2): of the domain's curve, if that is known, else b_sat / b(1). 0: not known.
double saturation_point(const wire::DomainInfo& info);

/// When the rank worked in this step. Noise comes behind the work and a delay before it; a record does not tell which of
/// them held the rank, but only a delay is longer than the work.
Window work_of(const StepCourse& course);

/// Of all `ranks`, what lies in `window`: where they worked in each of their steps.
std::vector<Window> work_in(const timeline::Timeline& timeline, std::span<const Rank> ranks, Window window);

/// A step function of time with its integrals. Immutable.
class Concurrency {
 public:
  /// `work`: of all ranks, in any order. `bandwidth` may be nothing: then nobody takes anything from anybody.
  Concurrency(std::span<const Window> work, const Bandwidth& bandwidth);

  /// Integral of the number at work, ns.
  double rank_time(Window window) const { return integral(&Level::rank_time, window); }
  /// Integral of b(n), bytes; without a bandwidth as rank_time(). O(log n), as everything here.
  double volume(Window window) const { return integral(&Level::volume, window); }
  /// How long that would have taken, in ns, which a rank at work throughout `window` got done, had it been alone: the
  /// integral of b(n) / (n b(1)) (afzal-2020, eq. 1).
  double alone(Window window) const { return integral(&Level::alone, window); }

 private:
  /// From a moment on so many are at work; the integrals up to there, and how they grow from there.
  struct Level {
    struct Growth {
      double until = 0;
      double per_ns = 0;
    };
    Nanoseconds from{};
    Growth rank_time, volume, alone;
  };
  double integral(Level::Growth Level::*of, Window window) const {
    return up_to(of, window.to) - up_to(of, window.from);
  }
  double up_to(Level::Growth Level::*of, Nanoseconds time) const;

  std::vector<Level> levels_;
};

}  // namespace idlewave::analysis
