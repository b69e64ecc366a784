#include "workloads/sim/noise/interruptions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "workloads/sim/noise/counter_random.h"
#include "workloads/sim/noise/portable_math.h"

namespace idlewave::sim::noise {
namespace {

// Rows of random numbers for what is no (rank, step): far from any rank.
constexpr std::uint64_t kPhaseRow = std::uint64_t{1} << 40;
// Beyond so many times what a round of a trace leaves for work, a double no longer tells one round from the next.
constexpr double kMostRounds = 0x1p44;

double seconds(wire::Nanoseconds time) { return static_cast<double>(time.count()) * 1e-9; }

/// The moments (phase + k) * period. Each k has one moment, rounded once, so that no two intervals which share a border
/// count the same one.
struct Beat {
  double phase;
  double period;

  double at(double k) const { return (phase + k) * period; }

  /// The first k that is no earlier than `time`. The quotient may be one off by rounding.
  double first_from(double time) const {
    const double k = std::ceil(time / period - phase);
    if (at(k) < time) return k + 1;
    return at(k - 1) >= time ? k - 1 : k;
  }
};

}  // namespace

Phases::Phases(std::uint64_t seed, support::NoisePhase phase) : key_(key_of(seed)), phase_(phase) {}

double Phases::of(Rank rank) const {
  const Rank column = phase_ == support::NoisePhase::kOwn ? rank : 0;
  return unit_of(bits_at(key_, kPhaseRow, static_cast<std::uint64_t>(column)));
}

PeriodicInterruptions::PeriodicInterruptions(double duration, double period, Phases phases)
    : duration_(duration), period_(period), phases_(phases) {}

double PeriodicInterruptions::after(Rank rank, Step /*step*/, double begin, double end) const {
  const Beat beat{phases_.of(rank), period_};
  const double first = beat.first_from(begin);
  // The n-th one is the first that does not count if it begins at end + n durations or later.
  const auto counts = [&](double n) { return beat.at(first + n) < end + n * duration_; };
  if (!counts(0)) return 0;
  double n = std::max(1.0, std::ceil((end - beat.at(first)) / (period_ - duration_)));
  if (counts(n)) {
    ++n;
  } else if (!counts(n - 1)) {
    --n;
  }
  return n * duration_;
}

double PeriodicInterruptions::free_from(Rank rank, double time) const {
  const Beat beat{phases_.of(rank), period_};
  return std::max(time, beat.at(beat.first_from(time) - 1) + duration_);
}

double PeriodicInterruptions::next_from(Rank rank, double time) const {
  const Beat beat{phases_.of(rank), period_};
  return beat.at(beat.first_from(time));
}

SystemInterruptions::SystemInterruptions(std::uint64_t seed, Phases phases)
    : key_(mixed(key_of(seed))), cut_(1 - portable_exp(-kLongest / kScale)), phases_(phases) {}

double SystemInterruptions::duration(Rank rank, std::int64_t tick) const {
  const double u = unit_of(bits_at(key_, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(tick)));
  return std::clamp(-kScale * portable_log(1 - cut_ * u), 0.0, kLongest);
}

double SystemInterruptions::after(Rank rank, Step /*step*/, double begin, double end) const {
  const Beat beat{phases_.of(rank), kPeriod};
  double idle = 0;
  for (double k = beat.first_from(begin); beat.at(k) < end + idle; ++k) {
    idle += duration(rank, static_cast<std::int64_t>(k));
  }
  return idle;
}

double SystemInterruptions::free_from(Rank rank, double time) const {
  const Beat beat{phases_.of(rank), kPeriod};
  const double k = beat.first_from(time) - 1;
  return std::max(time, beat.at(k) + duration(rank, static_cast<std::int64_t>(k)));
}

double SystemInterruptions::next_from(Rank rank, double time) const {
  const Beat beat{phases_.of(rank), kPeriod};
  return beat.at(beat.first_from(time));
}

TraceInterruptions::TraceInterruptions(const support::NoiseTrace& trace, Phases phases) : phases_(phases) {
  for (const support::Detour& detour : trace) {
    round_.push_back({seconds(detour.start), seconds(detour.duration)});
    busy_ += seconds(detour.duration);
  }
  length_ = round_.back().start + round_.back().duration;
  // In whole nanoseconds: the difference of two long times would be mostly rounding.
  wire::Nanoseconds free = trace.back().start + trace.back().duration;
  for (const support::Detour& detour : trace) free -= detour.duration;
  free_ = seconds(free);
  stretch_ = longest_stretch();
}

double TraceInterruptions::longest_stretch() const {
  // Two rounds, since a stretch may go on from one into the next.
  double longest = 0, begin = 0, end = 0;
  for (Place place{0, 0}; place.round < 2; place = next(place)) {
    const double start = at(place, 0);
    if (start > end) begin = end = start;
    end += round_[place.index].duration;
    longest = std::max(longest, end - begin);
  }
  return longest;
}

double TraceInterruptions::free_from(Rank rank, double time) const {
  if (time > kMostRounds * length_) return time;
  const double offset = phases_.of(rank) * length_;
  double free = -std::numeric_limits<double>::infinity();
  for (Place place = first_from(time - stretch_, offset); at(place, offset) < time; place = next(place))
    free = std::max(free, at(place, offset)) + round_[place.index].duration;
  return std::max(time, free);
}

double TraceInterruptions::next_from(Rank rank, double time) const {
  if (time > kMostRounds * length_) return time;
  const double offset = phases_.of(rank) * length_;
  return at(first_from(time, offset), offset);
}

TraceInterruptions::Place TraceInterruptions::next(Place place) const {
  return place.index + 1 < round_.size() ? Place{place.round, place.index + 1} : Place{place.round + 1, 0};
}

TraceInterruptions::Place TraceInterruptions::previous(Place place) const {
  return place.index > 0 ? Place{place.round, place.index - 1} : Place{place.round - 1, round_.size() - 1};
}

TraceInterruptions::Place TraceInterruptions::first_from(double time, double offset) const {
  const double round = std::floor((time + offset) / length_);
  const double within = time + offset - round * length_;
  const auto found = std::ranges::lower_bound(round_, within, {}, &Interruption::start);
  Place place =
      found == round_.end() ? Place{round + 1, 0} : Place{round, static_cast<std::size_t>(found - round_.begin())};
  // What was found may be off by rounding.
  while (at(previous(place), offset) >= time) place = previous(place);
  while (at(place, offset) < time) place = next(place);
  return place;
}

double TraceInterruptions::after(Rank rank, Step /*step*/, double begin, double end) const {
  // Then the interruptions take their share: work has the rest of each round.
  if (end * (length_ / free_) > kMostRounds * free_) return (end - begin) * busy_ / free_;
  const double offset = phases_.of(rank) * length_;
  Place place = first_from(begin, offset);
  // Work that is longer by a round than what some rounds leave for it takes at least those rounds.
  const double whole = std::max(0.0, std::floor((end - begin - length_) / free_));
  place.round += whole;
  double idle = whole * busy_;
  for (; at(place, offset) < end + idle; place = next(place)) idle += round_[place.index].duration;
  return idle;
}

}  // namespace idlewave::sim::noise
