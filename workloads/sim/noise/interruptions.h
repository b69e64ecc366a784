#pragma once
// Noise that comes at moments of simulated time, whatever the program does then.
//
// Work that begins at t and takes w without noise ends at the smallest e with
//
//     e - t = w + (sum of the durations of the interruptions that begin within [t, e))
//
// so an interruption may come within the time that another one took, and counts too; one that begins while a rank waits
// or communicates costs it nothing, unless the engine asks what is left of it when the rank goes on (free_from), as
// that of GOAL schedules does. (LogGOPSim, whose traces can be read here, counts neither the former nor whatever else
// begins after t + w, but does count what is left at t of an interruption that began before.) Where a phase of work
// begins no earlier than the noise of the last one ended, each interruption counts for one of them at most.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/sim/core/phase_noise.h"
#include "workloads/support/noise_trace.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::noise {

using core::PhaseNoise;
using wire::Rank;
using wire::Step;

/// Where in a cycle the interruptions of each rank stand: drawn from the seed, for each rank or once for all.
class Phases {
 public:
  Phases(std::uint64_t seed, support::NoisePhase phase);
  double of(Rank rank) const;  ///< Fraction of the cycle, in (0, 1).

 private:
  std::uint64_t key_;
  support::NoisePhase phase_;
};

/// Interruption k = 0, +-1, ... of a rank begins at (phase + k) periods, all of one duration. O(1), however long the
/// work.
class PeriodicInterruptions final : public PhaseNoise {
 public:
  /// Seconds; duration < period.
  PeriodicInterruptions(double duration, double period, Phases phases);
  double after(Rank rank, Step step, double begin, double end) const override;
  bool is_in_time() const override { return true; }
  double free_from(Rank rank, double time) const override;
  double next_from(Rank rank, double time) const override;

 private:
  double duration_;
  double period_;
  Phases phases_;
};

/// An operating system, as the first profile of Widener et al. (section 3.1: "all noise event durations less than 35
/// microseconds"). The paper shows the trace as a picture only, so the rest is an assumption: a timer tick of 250 Hz,
/// usual with Linux, whose durations are exponential with 5 us, cut at 35 us. Takes 0.12 % of the time.
/// O(number of ticks).
class SystemInterruptions final : public PhaseNoise {
 public:
  static constexpr double kPeriod = 1.0 / 250;
  static constexpr double kLongest = 35e-6;
  static constexpr double kScale = 5e-6;

  SystemInterruptions(std::uint64_t seed, Phases phases);
  double after(Rank rank, Step step, double begin, double end) const override;
  bool is_in_time() const override { return true; }
  double free_from(Rank rank, double time) const override;
  double next_from(Rank rank, double time) const override;
  double duration(Rank rank, std::int64_t tick) const;  ///< Seconds, below kLongest.

 private:
  std::uint64_t key_;
  double cut_;  ///< P(exponential < kLongest)
  Phases phases_;
};

/// The interruptions of a trace, over and over. Each rank stands at a moment of the trace of its own when the run
/// begins, or all at the same. O(log(size of the trace) + interruptions that count, less those of whole rounds).
class TraceInterruptions final : public PhaseNoise {
 public:
  /// As parse_noise_trace returns it: not empty, sorted, with time left for work.
  TraceInterruptions(const support::NoiseTrace& trace, Phases phases);
  double after(Rank rank, Step step, double begin, double end) const override;
  bool is_in_time() const override { return true; }
  double free_from(Rank rank, double time) const override;
  double next_from(Rank rank, double time) const override;

 private:
  struct Interruption {
    double start;
    double duration;
  };
  struct Place {
    double round;
    std::size_t index;
  };
  /// Moments of one rank, whose run begins at `offset` of a round. Each place has one, rounded once.
  double at(Place place, double offset) const { return (place.round * length_ - offset) + round_[place.index].start; }
  double longest_stretch() const;
  Place next(Place place) const;
  Place previous(Place place) const;
  Place first_from(double time, double offset) const;

  std::vector<Interruption> round_;
  double length_ = 0;   ///< Of a round.
  double busy_ = 0;     ///< All durations of a round.
  double free_ = 0;     ///< What is left of a round for work.
  double stretch_ = 0;  ///< The longest time without a moment for work.
  Phases phases_;
};

}  // namespace idlewave::sim::noise
