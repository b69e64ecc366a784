#include "workloads/sim/core/wait_table.h"

#include <algorithm>
#include <utility>

#include "workloads/support/neighbour.h"

namespace idlewave::sim::core {
namespace {

/// Half round is ahead.
std::vector<Rank> distances(Rank rank, std::span<const Rank> others, Rank ranks) {
  std::vector<Rank> distances;
  for (const Rank other : others) {
    const Rank ahead = other >= rank ? other - rank : other - rank + ranks;
    if (ahead != 0) distances.push_back(ahead > ranks / 2 ? ahead - ranks : ahead);
  }
  std::ranges::sort(distances);
  distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
  return distances;
}

}  // namespace

std::uint32_t WaitTable::number_of(Wait wait) {
  const auto [place, is_new] = wait_numbers_.emplace(wait, static_cast<std::uint32_t>(waits_.size()));
  if (is_new) waits_.push_back(std::move(wait));
  return place->second;
}

std::uint32_t WaitTable::wait(Rank rank, std::span<const Rank> from, std::span<const Rank> to, bool rendezvous) {
  const auto ranks = static_cast<Rank>(follows_.size());
  return number_of({.rendezvous = rendezvous,
                    .collective = false,
                    .from = distances(rank, from, ranks),
                    .to = distances(rank, to, ranks)});
}

void WaitTable::follow(Rank rank, const std::vector<WaitsOfStep>& steps) {
  const auto [place, is_new] = cycle_numbers_.emplace(steps, static_cast<std::uint32_t>(cycles_.size()));
  if (is_new) cycles_.push_back(steps);
  follows_[static_cast<std::size_t>(rank)] = place->second + 1;
}

WaitTable waits_of(const support::Communication& communication, Rank ranks, bool rendezvous) {
  const bool split = communication.wait == support::WaitFlavour::kSplit;
  WaitTable table(ranks);
  std::vector<Rank> from, to;
  for (Rank rank = 0; rank < ranks; ++rank) {
    WaitsOfStep step;
    const auto end_wait = [&] {
      step.push_back(table.wait(rank, from, to, rendezvous));
      from.clear(), to.clear();
    };
    for (const Rank distance : communication.distances) {
      if (const auto sender = support::neighbour(communication.topology, ranks, rank, -distance))
        from.push_back(*sender);
      if (const auto receiver = support::neighbour(communication.topology, ranks, rank, distance))
        to.push_back(*receiver);
      if (split) end_wait();
    }
    if (!split) end_wait();
    table.follow(rank, {step});
  }
  return table;
}

}  // namespace idlewave::sim::core
