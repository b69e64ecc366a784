#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

/// From which step on each rank waits for others than before: the latest changes. What a rank follows now is the
/// timeline's to know; here is what it followed before. Cycles are numbers of its node, 0: it says nothing.
class PartnerLog {
 public:
  /// A cycle, and the step of which it was said first.
  struct Followed {
    std::uint32_t cycle = 0;
    wire::Step since = wire::kNoStep;
  };

  explicit PartnerLog(std::uint64_t budget_bytes) : budget_(budget_bytes) {}

  /// The rank's own word: `now` from that step on, `before` up to there. Until a cycle of several steps is known, each is
  /// told by itself: what the cycle has told as well is no change. `same(a, b, first, last)`: cycles a and b are the same
  /// in the steps from `first` to before `last`. Since when it has followed what it follows now.
  template <class Same>
  wire::Step told(wire::Rank rank, wire::Step from, Followed before, std::uint32_t now, Same same) {
    if (const Change* latest = latest_of(rank); latest != nullptr && latest->is_announced) before = take_back(rank);
    while (before.cycle != now && before.cycle != 0 && same(before.cycle, now, before.since, from)) {
      from = before.since;
      if (latest_of(rank) == nullptr) return from;
      before = take_back(rank);
    }
    if (before.cycle == now) return before.since;
    add(rank, {from, before});
    return from;
  }
  /// A roster says the same, when the rank has come to that step or is on its way. The rank's word may come behind it, and
  /// counts then.
  void announced(wire::Rank rank, wire::Step from, Followed before);
  /// Numbers or steps begin anew.
  void forget(wire::Rank rank) { ranks_.erase(rank); }

  /// What the rank followed in that step; nothing: what it follows now.
  std::optional<std::uint32_t> cycle_in(wire::Rank rank, wire::Step step) const;
  /// Steps from which on a rank follows another cycle, ascending, each once.
  std::vector<wire::Step> steps() const;
  std::uint64_t bytes() const { return ranks_.size() * kBytesOfRank; }

 private:
  static constexpr std::size_t kMostOfRank = 16;
  struct Change {
    wire::Step from = 0;
    Followed before;
    bool is_announced = false;  ///< And not told.
  };
  static constexpr std::uint64_t kBytesOfRank = 96 + kMostOfRank * sizeof(Change);

  const Change* latest_of(wire::Rank rank) const;
  Followed take_back(wire::Rank rank);
  void add(wire::Rank rank, Change change);

  std::uint64_t budget_;
  std::map<wire::Rank, std::vector<Change>> ranks_;  ///< Of each its changes, the earliest first; one at least.
};

}  // namespace idlewave::timeline
