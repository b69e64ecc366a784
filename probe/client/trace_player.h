#pragma once

#include <cstdint>

#include "probe/shm/gate.h"
#include "probe/shm/layout.h"

namespace idlewave::client {

/// How long work is held up by a noise trace that is played over and over. By the rule of all traces (noise.md): work from
/// t that would take w without noise ends at the smallest e with e - t = w + (the durations of the detours that begin within
/// [t, e)), and no detour counts for two pieces of work. Whole nanoseconds. What stands in the room may be anything.
class TracePlayer {
 public:
  /// `offset`: where in the trace the rank stands when its time begins, a fraction of a round. False: nothing can be played.
  bool begin(const shm::TraceRoom& room, const shm::PlayedTrace& trace, double offset);

  /// For work that went on over [begin, end) of the node's clock; ascending from call to call. At most shm::kHoldCap.
  std::int64_t after(std::int64_t begin_ns, std::int64_t end_ns);

 private:
  shm::TraceRoom::Detour detour(std::uint32_t place) const;
  std::uint32_t first_from(std::int64_t within_ns) const;

  const shm::TraceRoom* room_ = nullptr;
  shm::PlayedTrace trace_;
  std::int64_t start_ns_ = 0;    ///< When the first round begins.
  std::int64_t counted_ns_ = 0;  ///< Detours that begin before it were counted, or never will be.
};

}  // namespace idlewave::client
