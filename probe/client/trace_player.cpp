#include "probe/client/trace_player.h"

#include <algorithm>

namespace idlewave::client {
namespace {

// Bounds within which nothing below runs over. A trace is a month long at most, and leaves a thousandth for work.
constexpr std::int64_t kLongestRound = std::int64_t{1} << 52;  ///< ns
constexpr std::int64_t kLongestWork = std::int64_t{1} << 50;   ///< ns, 13 days
constexpr std::int64_t kLatest = std::int64_t{1} << 61;        ///< ns
constexpr std::int64_t kLeastShareOfWork = 1000;

bool is_possible(const shm::PlayedTrace& trace) {
  const bool has_place =
      trace.count > 0 && trace.first < shm::kTraceRoom && trace.count <= shm::kTraceRoom - trace.first;
  if (!has_place || trace.length_ns <= 0 || trace.length_ns > kLongestRound) return false;
  const std::int64_t free_ns = trace.length_ns - std::clamp<std::int64_t>(trace.busy_ns, 0, trace.length_ns);
  return trace.busy_ns > 0 && free_ns > 0 && free_ns >= trace.length_ns / kLeastShareOfWork;
}

}  // namespace

bool TracePlayer::begin(const shm::TraceRoom& room, const shm::PlayedTrace& trace, double offset) {
  if (!is_possible(trace) || trace.began_ns < 0 || trace.began_ns > kLatest) return false;
  room_ = &room;
  trace_ = trace;
  start_ns_ = trace.began_ns - static_cast<std::int64_t>(offset * static_cast<double>(trace.length_ns));
  counted_ns_ = trace.began_ns;
  return true;
}

std::int64_t TracePlayer::after(std::int64_t begin_ns, std::int64_t end_ns) {
  begin_ns = std::max(begin_ns, counted_ns_);
  if (end_ns <= begin_ns || end_ns > kLatest) return 0;
  end_ns = std::min(end_ns, begin_ns + kLongestWork);
  const std::int64_t from = begin_ns - start_ns_, to = end_ns - start_ns_;
  const std::int64_t length = trace_.length_ns, busy = trace_.busy_ns, free = length - busy;
  // A detour at the very end of a round begins when the next one does, and belongs to this.
  std::int64_t round = (from + length - 1) / length * length - length;
  std::uint32_t place = first_from(from - round);
  // Work that is longer by a round than what some rounds leave for it takes at least those rounds.
  const std::int64_t whole = std::max<std::int64_t>(0, to - from - length) / free;
  std::int64_t idle = 0;
  if (whole > shm::kHoldCap / busy)
    idle = shm::kHoldCap;
  else
    idle = whole * busy, round += whole * length;
  // What is left of the work is shorter than length + free; detours that hold it up for longer than this are not what
  // the order says of them.
  const std::int64_t most = std::min(shm::kHoldCap, idle + busy * (2 * (length / free) + 4));
  while (idle < most) {
    if (place == trace_.count) place = 0, round += length;
    const shm::TraceRoom::Detour detour = this->detour(place);
    if (round + detour.start_ns >= to + idle) break;
    idle += detour.duration_ns;
    ++place;
  }
  counted_ns_ = end_ns + idle;
  return std::min(idle, shm::kHoldCap);
}

shm::TraceRoom::Detour TracePlayer::detour(std::uint32_t place) const {
  const shm::TraceRoom::Detour read = shm::detour_at(*room_, trace_.first + place);
  return {std::clamp<std::int64_t>(read.start_ns, 0, trace_.length_ns),
          std::clamp<std::int64_t>(read.duration_ns, 0, trace_.length_ns)};
}

/// The first that begins no earlier within a round; the number of all if none does.
std::uint32_t TracePlayer::first_from(std::int64_t within_ns) const {
  std::uint32_t low = 0, high = trace_.count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (detour(middle).start_ns < within_ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace idlewave::client
