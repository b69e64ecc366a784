#pragma once

#include <cstdint>

#include "probe/shm/clock.h"

namespace idlewave::client {

/// A moment after which a start gives up. Only used before the rank reports.
class Deadline {
 public:
  explicit Deadline(std::int64_t patience_ms)
      : end_(shm::monotonic_now() + wire::Nanoseconds{patience_ms * 1'000'000}) {}
  bool has_passed() const { return shm::monotonic_now() >= end_; }

  /// Sleeps 5 ms, so that many waiting ranks leave the processor to the agent that they wait for. False if the time is
  /// up.
  bool wait_a_little() const {
    constexpr timespec kPause{0, 5'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &kPause, nullptr);
    return !has_passed();
  }

 private:
  wire::Nanoseconds end_;
};

}  // namespace idlewave::client
