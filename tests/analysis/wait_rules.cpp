#include "tests/analysis/wait_rules.h"

#include <algorithm>
#include <set>

namespace idlewave::test {

using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using wire::Nanoseconds;
using wire::Rank;

std::pair<Rank, Nanoseconds> WaitRules::last(Rank rank, int step) const {
  Done done;
  for (Rank each = 0; each < table_.size(); ++each) done.emplace_back(table_.at(each, step).post, -each);
  const std::size_t rounds = c_.wait == WaitFlavour::kSplit ? c_.distances.size() : 1;
  for (std::size_t round = 0; round < rounds; ++round) done = after(done, round);
  return {-done[std::size_t(rank)].second, done[std::size_t(rank)].first};
}

std::vector<Rank> WaitRules::offsets() const {
  std::set<Rank> needed{0};
  const std::size_t rounds = c_.wait == WaitFlavour::kSplit ? c_.distances.size() : 1;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::set<Rank> more = needed;
    for (const Rank hop : hops(round))
      for (const Rank before : needed) more.insert(before + hop);
    needed = more;
  }
  needed.erase(0);
  return {needed.begin(), needed.end()};
}

std::vector<Rank> WaitRules::hops(std::size_t round) const {
  std::vector<Rank> hops;
  for (std::size_t i = 0; i < c_.distances.size(); ++i) {
    if (c_.wait == WaitFlavour::kSplit && i != round) continue;
    hops.push_back(-c_.distances[i]);
    if (c_.protocol == Protocol::kRendezvous) hops.push_back(c_.distances[i]);
  }
  return hops;
}

/// Of those that come at the same moment the lowest rank counts: ranks are negative here, so the largest pair.
WaitRules::Done WaitRules::after(const Done& done, std::size_t round) const {
  auto next = done;
  for (Rank rank = 0; rank < table_.size(); ++rank) {
    auto& mine = next[std::size_t(rank)];
    for (const Rank hop : hops(round)) {
      Rank other = rank + hop;
      if (c_.topology == Topology::kRing) other = (other + table_.size()) % table_.size();
      if (other < 0 || other >= table_.size() || other == rank) continue;
      const auto& its = done[std::size_t(other)];
      const bool moves = its.first > mine.first || (its.first == mine.first && mine.second != -rank);
      if (moves) mine = std::max(mine, its);
    }
  }
  return next;
}

}  // namespace idlewave::test
