#pragma once
// Ranks whose processes died. Of what they did until then nothing is missing (missing.h), but a run in which that
// happened is not one that went well, and whoever asks whether it is complete is told.

#include <compare>
#include <string>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::session {

/// A process of `rank` ended without saying so.
struct LostRank {
  wire::Nanoseconds at{};  ///< Session time at which its agent found it gone.
  wire::Rank rank = 0;
  friend auto operator<=>(const LostRank&, const LostRank&) = default;
};

/// In the order in which they were lost.
std::vector<LostRank> find_lost_ranks(const timeline::Timeline& timeline);

/// "rank 5 at 12.30 s, whose process ended without saying so", "rank 5 at 12.30 s and 39 more until 12.41 s, whose ...";
/// empty if none was lost.
std::string to_words(const std::vector<LostRank>& lost);

}  // namespace idlewave::analysis::session
