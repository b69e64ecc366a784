#pragma once
// Active processes on each contention domain, against the point where the memory bandwidth saturates.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis {

using wire::Nanoseconds;
using wire::Rank;

/// A window of session time, [from, to).
struct Window {
  Nanoseconds from{};
  Nanoseconds to{};
  Nanoseconds length() const { return to - from; }
};

/// How the ranks of a domain stand to each other (afzal-2020, section 4).
enum class DomainState : std::uint8_t {
  kUnknown,    ///< Too little has been seen.
  kNotActive,  ///< No rank computes: all wait, have stopped or are lost.
  kLockstep,   ///< All begin their steps together; bandwidth per rank is that of the full domain.
  /// Desynchronised: a computational wavefront; fewer ranks than there are compete for the bandwidth.
  kComputational,
  kDisturbed,  ///< An idle wave is passing through.
};
std::string to_words(DomainState state);

struct DomainActivity {
  int domain = 0;  ///< Index into Timeline::domains().
  int ranks = 0;   ///< Known members.
  int silent = 0;  ///< Members that have stopped or were lost.
  /// Mean number of members in compute work over the last tenth of a second (or two steps, if longer).
  double active_now = 0;
  double active_mean = 0;  ///< The same over the whole window.
  bool is_known = false;   ///< A member has told something of the window.
  /// N_sc, afzal-2020 section 2.2: of the domain's curve, if that is known, else b_sat / b(1). 0: not known.
  double saturation_point = 0;
  /// Bytes per second over the latest samples (about a second); nothing with kNone or without any.
  std::optional<double> bandwidth;
  std::optional<double> bandwidth_mean;  ///< Over the window.
  double saturated_bandwidth = 0;        ///< b_sat, bytes per second; 0: not known.
  wire::BandwidthSource source = wire::BandwidthSource::kNone;
  std::string note;  ///< Why the source is not a better one.
  DomainState state = DomainState::kUnknown;
};

/// Time-average over `window` of the number of `ranks` inside compute work (delays and noise excluded). The window is
/// cut to the time from the first start of one of them to the last stop, as far as it is known; 0 if nothing is left.
double mean_active(const timeline::Timeline& timeline, std::span<const Rank> ranks, Window window);

/// One entry per domain, in the order of Timeline::domains(). "Now" is window.to.
std::vector<DomainActivity> domain_activity(const timeline::Timeline& timeline, Window window);

}  // namespace idlewave::analysis
