#pragma once
// Active processes on each contention domain, against the point where the memory bandwidth saturates.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitor/analysis/domains/domain_states.h"
#include "monitor/analysis/domains/threads.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::domains {

/// What a meter of a domain says.
struct MeterFigures {
  int meter = 0;               ///< Index into Timeline::meters().
  std::optional<double> now;   ///< In its unit, over the latest samples (about a second); nothing without any.
  std::optional<double> mean;  ///< Over the window, as far as it is known.
};

struct DomainActivity {
  int domain = 0;  ///< Index into Timeline::domains().
  int ranks = 0;   ///< Known members.
  int silent = 0;  ///< Members that have stopped or were lost.
  /// Mean number of members in compute work over the last tenth of a second (or two steps, if longer).
  double active_now = 0;
  double active_mean = 0;                              ///< The same over the whole window.
  std::optional<ThreadUse> threads_now, threads_mean;  ///< Of members that tell, over the same times.
  bool is_known = false;                               ///< A member has told something of the window.
  double saturation_point = 0;                         ///< N_sc; 0: not known.
  bool is_calibrated = false;                          ///< That, and b_sat, were measured beforehand.
  /// Bytes per second over the latest samples (about a second); nothing with kNone or without any.
  std::optional<double> bandwidth;
  std::optional<double> bandwidth_mean;  ///< Over the window.
  double saturated_bandwidth = 0;        ///< b_sat, bytes per second; 0: not known.
  wire::BandwidthSource source = wire::BandwidthSource::kNone;
  std::string note;  ///< Why the source is not a better one.
  std::vector<MeterFigures> meters;
  /// How its ranks stand to each other at the window's end, and since when; as DomainStates says.
  DomainState state = DomainState::kUnknown;
  std::optional<Nanoseconds> state_since;
  Rank straggler = -1;  ///< With kStraggler.
};

/// Time-average over `window` of the number of `ranks` inside compute work (delays and noise excluded). The window is
/// cut to the time from the first start of one of them to the last stop, as far as it is known; 0 if nothing is left.
double mean_active(const timeline::Timeline& timeline, std::span<const Rank> ranks, Window window);

/// One entry per domain, in the order of Timeline::domains(). "Now" is window.to. `states` has followed the session;
/// without it states are not known.
std::vector<DomainActivity> domain_activity(const timeline::Timeline& timeline, Window window,
                                            const DomainStates* states = nullptr);

}  // namespace idlewave::analysis::domains
