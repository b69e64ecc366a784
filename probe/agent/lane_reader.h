#pragma once

#include <cstdint>
#include <vector>

#include "probe/agent/run_reader.h"
#include "probe/shm/layout.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::agent {

/// The reading end of the ring that a lane's events come through. What stands there is checked: its writer may have died in the
/// middle, or have overwritten its memory.
class LaneReader {
 public:
  /// Stream and ring are borrowed. Goes on where the stream's position stands.
  LaneReader(shm::Stream& stream, const wire::Event* ring, std::uint64_t capacity)
      : stream_(stream), ring_(ring), capacity_(capacity), tail_(stream.tail.load(std::memory_order_relaxed)) {}

  static constexpr std::uint64_t kAtOnce = 1 << 13;
  /// How far the writer has come.
  std::uint64_t published() const { return stream_.head.load(std::memory_order_acquire); }
  /// One part in `parts` of the ring at least has to be drained yet.
  bool is_filled(std::uint64_t parts) const { return published() - tail_ >= capacity_ / parts; }
  bool is_drained() const { return published() == tail_; }
  /// Appends to `read` what was written before position `end`, kAtOnce events at most. True if that was all. No event is later
  /// than `latest`.
  bool drain(std::uint64_t end, wire::Nanoseconds latest, std::vector<wire::Event>& read);
  /// Appends to `read` what the writer has summed since, if that is from before `due`. No earlier event than the one returned
  /// will come of what it had summed then.
  wire::Nanoseconds catch_up(wire::Nanoseconds due, wire::Nanoseconds now, std::vector<wire::Event>& read);
  /// Events that the writer did not live to tell of.
  std::uint64_t untold() const { return stream_.dropped.load(std::memory_order_acquire) + runs_.is_torn(); }

 private:
  shm::Stream& stream_;
  const wire::Event* ring_;
  std::uint64_t capacity_;
  std::uint64_t tail_;  ///< The stream's is for the writer to see, and for whoever takes over from this process.
  RunReader runs_;
  bool was_summing_ = false;  ///< When it was looked last.
};

}  // namespace idlewave::agent
