#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "monitor/timeline/records.h"

namespace idlewave::timeline {

/// Delays in the order in which they were told; the latest few ten thousand, as far as the room for them goes.
class DelayLog {
 public:
  using Number = std::int64_t;  ///< Counted from the first delay of the session.
  static constexpr Number kNone = -1;

  explicit DelayLog(std::uint64_t bytes) : most_(std::clamp<std::uint64_t>(bytes / sizeof(Delay), 1, kMost)) {}

  Number begin(const Delay& delay) {
    delays_.push_back(delay);
    if (delays_.size() > most_) {
      delays_.pop_front();
      ++forgotten_;
    }
    return forgotten_ + Number(delays_.size()) - 1;
  }
  void end(Number number, Moment at) {
    if (number < forgotten_) return;
    Delay& delay = delays_[std::size_t(number - forgotten_)];
    delay.end = at;
    delay.ended = true;
  }
  const std::deque<Delay>& all() const { return delays_; }
  std::size_t bytes() const { return delays_.size() * sizeof(Delay); }

 private:
  static constexpr std::uint64_t kMost = 65536;
  std::size_t most_;
  std::deque<Delay> delays_;
  Number forgotten_ = 0;
};

}  // namespace idlewave::timeline
