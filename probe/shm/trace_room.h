#pragma once
// Where the noise traces lie that the ranks of a node are playing: one room for all of them. The agent puts a trace into a
// part of it that nobody's order names, then gives the order (gate.h); ranks of one order read the same part. A rank may be
// reading a part while the agent has ended its order and puts another trace there: what it has read then is thrown away,
// since it looks at its order again behind it (is_replaced). Each number is read and written whole.

#include <atomic>
#include <cstdint>

#include "probe/wire/vocabulary.h"

namespace idlewave::shm {

/// Detours. Where one trace is played by all, another of any length finds room beside it, on either side.
inline constexpr std::uint32_t kTraceRoom = 3 * wire::kMaxDetours;

struct TraceRoom {
  struct Detour {
    std::int64_t start_ns = 0;
    std::int64_t duration_ns = 0;
  };
  Detour detours[kTraceRoom];
};

/// Agent. `place`: below kTraceRoom, as for the rank.
inline void put_detour(TraceRoom& room, std::uint32_t place, TraceRoom::Detour detour) {
  TraceRoom::Detour& to = room.detours[place];
  std::atomic_ref(to.start_ns).store(detour.start_ns, std::memory_order_release);
  std::atomic_ref(to.duration_ns).store(detour.duration_ns, std::memory_order_release);
}

/// Rank.
inline TraceRoom::Detour detour_at(const TraceRoom& room, std::uint32_t place) {
  auto& from = const_cast<TraceRoom::Detour&>(room.detours[place]);
  return {std::atomic_ref(from.start_ns).load(std::memory_order_acquire),
          std::atomic_ref(from.duration_ns).load(std::memory_order_acquire)};
}

}  // namespace idlewave::shm
