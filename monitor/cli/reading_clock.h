#pragma once
// The clock of who reads a recording as fast as it can be read.

#include <chrono>
#include <utility>

#include "monitor/link/link.h"

namespace idlewave::cli {

using wire::Nanoseconds;

/// The moments at which a recording is looked at, at speed 1, so that what is said on the way does not depend on how
/// fast this machine is. What it says of its own length may be years: only what is in it takes time to read.
class ReadingClock {
 public:
  explicit ReadingClock(const link::ReplayControl& replay) : replay_(replay), next_entry_(replay.next_at()) {}
  Nanoseconds now() const { return now_; }
  void advance() {
    now_ += kStep;
    const Nanoseconds next = replay_.next_at();
    if (next != std::exchange(next_entry_, next)) quiet_since_ = now_;
    if (now_ - quiet_since_ >= kQuiet && next > now_) now_ += (next - now_) / kStep * kStep;
  }

 private:
  static constexpr Nanoseconds kStep = std::chrono::milliseconds(50);
  /// When nothing has come for so long, all has been said of what came before.
  static constexpr Nanoseconds kQuiet = std::chrono::seconds(5);

  const link::ReplayControl& replay_;
  Nanoseconds now_{};
  Nanoseconds next_entry_;
  Nanoseconds quiet_since_{};
};

}  // namespace idlewave::cli
