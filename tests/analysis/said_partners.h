#pragma once
// Timelines of ranks that say whom they wait for, and do nothing else.

#include <gmock/gmock.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::test {

/// A timeline of ranks that said this, and did nothing.
inline timeline::Timeline that_said(wire::Rank ranks, const std::vector<wire::WaitPattern>& patterns,
                                    const std::vector<wire::WaitCycle>& cycles,
                                    const std::vector<std::uint32_t>& follows) {
  wire::Roster roster;
  roster.world_size = ranks;
  roster.patterns = patterns;
  roster.cycles = cycles;
  for (wire::Rank rank = 0; rank < wire::Rank(follows.size()); ++rank)
    roster.ranks.push_back({rank, 1, wire::kNoDomain, follows[std::size_t(rank)]});
  timeline::Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n1", roster));
  return timeline;
}

inline std::vector<std::uint32_t> all_follow(wire::Rank ranks) {
  return std::vector<std::uint32_t>(std::size_t(ranks), 1);
}

inline wire::WaitPattern receives(std::vector<wire::Rank> from) { return {false, false, std::move(from), {}}; }
inline const wire::WaitPattern kAllMeet{false, true, {}, {}};

/// In its step `step`, and for all that come.
inline void say(timeline::Timeline& timeline, wire::Rank rank, int step, std::uint64_t cycle) {
  const wire::Nanoseconds at(step);
  timeline.append("n1", {wire::LaneId::Kind::kRank, rank},
                  std::vector<wire::Event>{{at, std::uint64_t(step), wire::EventKind::kStep, wire::Phase::kNone},
                                           {at, cycle, wire::EventKind::kPartners, wire::Phase::kNone}});
}

}  // namespace idlewave::test
