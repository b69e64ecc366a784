#pragma once

#include <algorithm>

#include "workloads/support/pause.h"

namespace idlewave::distributed {

/// Sleeps between looks at something that is waited for: longer the longer it has taken, so that many ranks on a few
/// cores leave them to those that work, and nobody is late by more than an eighth of its wait.
class Patience {
 public:
  void sleep() const {
    constexpr wire::Nanoseconds kLeast = std::chrono::microseconds{50}, kMost = std::chrono::milliseconds{1};
    const wire::Nanoseconds now = support::monotonic_now();
    support::sleep_until(now + std::clamp((now - begin_) / 8, kLeast, kMost));
  }

 private:
  wire::Nanoseconds begin_ = support::monotonic_now();
};

}  // namespace idlewave::distributed
