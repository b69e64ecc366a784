#pragma once
// How many threads of a rank are active, as it told, and what they did.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "monitor/timeline/event_store.h"

namespace idlewave::timeline {

/// What the threads of a rank did in a span of time, as far as it is known how many were active: nanoseconds, of all of
/// them together. The one that reports works, or waits, communicates or is held; the others work or sleep.
struct ThreadTimes {
  int most = 0;       ///< Threads that the rank ever told of at once.
  double known = 0;   ///< Length of what is known of the span; time outside any phase is none of it.
  double worked = 0;  ///< Active, and the one that reports only while it works.
  double called = 0;  ///< The one that reports: waited or communicated.

  /// The rest: those that were not active, and the one that was held.
  double slept() const { return std::max(most * known - worked - called, 0.0); }
};

/// Of one lane, in lane time. `times`: what the lane did from its beginning until then.
class ThreadLog {
 public:
  /// So many are active from `at` on. At most `limit` changes are kept, the latest ones.
  void change(std::uint64_t active, Nanoseconds at, const Times& times, std::uint32_t limit);
  void keep(std::uint32_t limit);

  bool empty() const { return changes_.empty(); }
  Nanoseconds from() const { return changes_.front().at; }  ///< From when on it is known how many there were.
  int active() const { return empty() ? 1 : changes_.back().active; }
  int most() const { return most_; }
  std::size_t bytes() const { return changes_.size() * sizeof(Change); }

  /// What they worked until `at`, which is not before from(), in nanoseconds from any moment. since(Nanoseconds) tells what
  /// the lane did from a moment until `at`.
  template <class Since>
  double worked_until(Nanoseconds at, Since since) const {
    const Change& change = latest(at);
    return change.worked + work_of(change.active, since(change.at));
  }

 private:
  struct Change {
    Nanoseconds at{};
    int active = 1;
    double worked = 0;  ///< Until then.
  };
  const Change& latest(Nanoseconds at) const;
  static double work_of(int active, const Times& times);

  std::deque<Change> changes_;
  Times times_{};  ///< At the latest change.
  int most_ = 0;
};

}  // namespace idlewave::timeline
