#pragma once
// What the threads of ranks do, where ranks tell how many are active (idlewave_threads, or an OpenMP runtime that tells it)
// or threads have lanes of their own. Threads that sleep while others communicate are what hybrid programs lose
// (R. Rabenseifner, Hybrid parallel programming, 2007).

#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/window.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::domains {

/// Mean numbers of threads over the time that is known of each rank; asleep is what of `most` does neither.
struct ThreadUse {
  int ranks = 0;       ///< That tell.
  double most = 0;     ///< Threads of all of them: the most that each ever told of, and those with a lane.
  double working = 0;  ///< Compute, also beside one that waits.
  double calling = 0;  ///< Wait or communicate.
  double asleep = 0;
};

/// What a thread that has a lane did in a window; `other`: it was in no phase, as one that waits for the others of its team.
struct ThreadLaneTimes {
  wire::ThreadId thread;
  Nanoseconds compute{}, wait{}, other{};
};
/// By rank and thread.
std::vector<ThreadLaneTimes> thread_lane_times(const timeline::Timeline& timeline, Window window);

/// Of those of `ranks` that tell; nothing: none of them does, or nothing is known of the window.
std::optional<ThreadUse> thread_use(const timeline::Timeline& timeline, std::span<const Rank> ranks, Window window);
/// Of all ranks.
std::optional<ThreadUse> thread_use(const timeline::Timeline& timeline, Window window);

}  // namespace idlewave::analysis::domains
