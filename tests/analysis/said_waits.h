#pragma once
// Whom the ranks of a simulated program would say that they wait for.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "probe/wire/frame.h"
#include "workloads/support/neighbour.h"
#include "workloads/support/scenario.h"

namespace idlewave::test {

/// Of a rank's waits in each step.
inline wire::WaitCycle waits_said(const support::Communication& c, wire::Rank rank, wire::Roster& roster) {
  wire::WaitCycle cycle{{{}}};
  wire::WaitPattern pattern{c.protocol == support::Protocol::kRendezvous, false, {}, {}};
  const auto end_wait = [&] {
    for (auto* offsets : {&pattern.from, &pattern.to}) std::ranges::sort(*offsets);
    cycle.steps[0].push_back(std::uint32_t(roster.patterns.size()));
    roster.patterns.push_back(std::exchange(pattern, {pattern.rendezvous, false, {}, {}}));
  };
  for (const wire::Rank distance : c.distances) {
    const auto from = support::neighbour(c.topology, roster.world_size, rank, -distance);
    const auto to = support::neighbour(c.topology, roster.world_size, rank, distance);
    if (from) pattern.from.push_back(*from - rank);
    if (to) pattern.to.push_back(*to - rank);
    if (c.wait == support::WaitFlavour::kSplit) end_wait();
  }
  if (c.wait == support::WaitFlavour::kAll) end_wait();
  return cycle;
}

/// By all of its ranks.
inline void say_waits(const support::Communication& communication, wire::Roster& roster) {
  for (auto& entry : roster.ranks) {
    roster.cycles.push_back(waits_said(communication, entry.rank, roster));
    entry.cycle = std::uint32_t(roster.cycles.size());
  }
}

}  // namespace idlewave::test
