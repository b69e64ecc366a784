#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::agent {

/// Collects events of many lanes into the next Events frame, and keeps what the frames promise: after a frame with
/// `up_to` no event with an earlier time follows, and within a lane times do not decrease.
class EventFrames {
 public:
  /// `promised`: what frames of an agent before this one have promised already.
  explicit EventFrames(wire::Nanoseconds promised = {}) : promised_(promised) {}

  /// In order within each lane, which may be a thread's (wire::lane_of). A time that would break the promise is raised to
  /// the earliest one that keeps it; see Agent::sweep for when that happens.
  void append(wire::LaneId lane, wire::Nanoseconds& lane_last, wire::Event event);

  /// The same of a meter, by its place in the roster.
  void append_meter(std::int32_t place, wire::Nanoseconds& lane_last, wire::Event event);

  bool empty() const { return ranks_.events.empty() && threads_.events.empty() && meters_.events.empty(); }
  /// Time of the earliest event that was collected since the last frame.
  std::optional<wire::Nanoseconds> earliest() const;
  bool full() const { return ranks_.events.size() + threads_.events.size() >= kFull; }
  /// What was collected, with the promise that nothing older than `up_to` follows (an older promise stays).
  wire::Events take(wire::Nanoseconds up_to);
  wire::Nanoseconds promised() const { return promised_; }

 private:
  /// With what one drain adds (LaneReader::kAtOnce), a frame stays below 1 MB even if no two events are alike.
  static constexpr std::size_t kFull = 1 << 14;
  struct Run {
    wire::LaneId lane;
    std::size_t begin = 0;
  };
  /// What becomes one blob.
  struct Collected {
    std::vector<wire::Event> events;
    std::vector<Run> runs;

    std::optional<wire::Nanoseconds> earliest() const;
  };
  void add(Collected& to, wire::LaneId lane, wire::Nanoseconds& lane_last, wire::Event event);
  void pack(Collected& from, std::vector<std::byte>& blob);

  Collected ranks_;  ///< And domains.
  Collected threads_;
  Collected meters_;
  std::vector<wire::LaneBatch> batches_;
  wire::Nanoseconds promised_;
};

}  // namespace idlewave::agent
