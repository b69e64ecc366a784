#pragma once
// The history of one rank: its events while the budget allows, shares of time at several resolutions for longer, and a record per step.

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

using wire::Nanoseconds;
using wire::Rank;

/// What a picture tells apart. kWait holds waiting and communicating (time inside MPI); kDelay holds delays and noise; kOther is running
/// outside any phase. What is missing to 1 is "no data".
enum class Category : std::uint8_t { kCompute = 0, kWait = 1, kDelay = 2, kOther = 3 };
inline constexpr int kCategories = 4;

/// Shares of a slice of time, each in [0, 1], their sum at most 1; the rest is time of which nothing is known.
struct Shares {
  std::array<float, kCategories> of{};
  float operator[](Category category) const { return of[static_cast<std::size_t>(category)]; }
  float known() const { return of[0] + of[1] + of[2] + of[3]; }
};

/// One step of one rank, from the moment it began to the moment the next one began.
struct StepRecord {
  wire::Step step = wire::kNoStep;
  Nanoseconds begin{};
  Nanoseconds compute{};
  Nanoseconds wait{};         ///< Phase wait alone.
  Nanoseconds communicate{};
  Nanoseconds delay{};        ///< Delays and noise.
  Nanoseconds end{};          ///< 0 while the step goes on.
};

enum class LaneState : std::uint8_t { kAnnounced, kLive, kStopped, kLost };

/// Owned by Timeline; main thread only. All times in and out are session time.
class Lane {
 public:
  LaneState state() const;
  wire::Phase phase() const;     ///< That goes on since the last event.
  Nanoseconds first() const;     ///< Time of the first event.
  Nanoseconds last() const;      ///< Time of the last event.
  Nanoseconds known_until() const;  ///< The last phase is known to have lasted until here (the node's up_to, or the end of the lane).
  int threads() const;           ///< Active threads, 1 unless told otherwise.

  /// Exact time in `category` within [from, to) where events are kept; before that, from the buckets (error at most 1/255 of a bucket
  /// per bucket). O(log events + events within one block) for each end of the window.
  Nanoseconds time_in(Category category, Nanoseconds from, Nanoseconds to) const;
  /// Shares for each of out.size() equal slices of [from, to), by the same rule.
  void shares(Nanoseconds from, Nanoseconds to, std::span<Shares> out) const;

  /// Records of the steps that are kept, oldest first. The last one may be going on.
  const std::deque<StepRecord>& steps() const;
  /// The record of step `k`, or null. O(1) when steps are numbered without gaps.
  const StepRecord* step(wire::Step k) const;

  /// Oldest time from which every event is kept.
  Nanoseconds events_from() const;
  /// Calls visit(const wire::Event&) (session time) for each kept event with from <= time < to, in order.
  template <class Visit>
  void for_each_event(Nanoseconds from, Nanoseconds to, Visit visit) const;

 private:
  // (implementation)
};

}  // namespace idlewave::timeline
