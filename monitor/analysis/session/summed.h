#pragma once
// Phases too short to be told one by one, of which a run has only the sums.

#include <cstdint>
#include <string>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::session {

/// Over the whole session, whatever has been forgotten.
struct SummedPhases {
  std::uint64_t phases = 0;
  wire::Nanoseconds time{};  ///< That they took, summed over ranks.
  wire::Rank ranks = 0;      ///< That told any.
};

SummedPhases find_summed(const timeline::Timeline& timeline);

/// "1234567 short phases of 3 ranks, 2.1 s of their time, are told as sums"; empty if there are none.
std::string to_words(const SummedPhases& summed);

}  // namespace idlewave::analysis::session
