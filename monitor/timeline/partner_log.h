#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

/// From which step on each rank waits for others than before: its latest changes, as many as there is room for. What a rank
/// follows now is the timeline's to know; here is what it followed before. Cycles are numbers of its node, 0: it says nothing.
class PartnerLog {
 public:
  /// A cycle, and the step of which it was said first.
  struct Followed {
    std::uint32_t cycle = 0;
    bool is_before_forgotten = false;  ///< Else what was said first holds for all steps before as well.
    wire::Step since = wire::kNoStep;
  };

  explicit PartnerLog(std::uint64_t budget_bytes) : budget_(budget_bytes) {}

  /// The rank's own word: `now` from that step on, `before` up to there. Until a cycle of several steps is known, each is
  /// told by itself: what the cycle has told as well is no change. `same(a, b, first, last)`: cycles a and b are the same
  /// in the steps from `first` to before `last`. What it follows now.
  template <class Same>
  Followed told(wire::Rank rank, wire::Step from, Followed before, std::uint32_t now, Same same) {
    if (const Change* latest = latest_of(rank); latest != nullptr && latest->is_announced) before = take_back(rank);
    const auto is_same = [&] { return before.since <= from && same(before.cycle, now, before.since, from); };
    while (before.cycle != now && before.cycle != 0 && is_same()) {
      from = before.since;
      if (latest_of(rank) == nullptr) return {now, before.is_before_forgotten, from};
      before = take_back(rank);
    }
    if (before.cycle == now) return before;
    return add(rank, {from, before}, now);
  }
  /// A roster says the same, when the rank has come to that step or is on its way. The rank's word may come behind it, and
  /// counts then. What it follows now.
  Followed announced(wire::Rank rank, wire::Step from, Followed before, std::uint32_t now);
  /// Numbers or steps begin anew.
  void forget(wire::Rank rank);

  /// What the rank followed in that step, as it follows `now`; 0: it said nothing, or that is forgotten. Costs the logarithm
  /// of its changes.
  std::uint32_t cycle_in(wire::Rank rank, wire::Step step, Followed now) const;
  /// Of the steps from `first` to before `end`, in how many it said nothing, or that is forgotten.
  wire::Step silent_steps(wire::Rank rank, wire::Step first, wire::Step end, Followed now) const;
  /// The step up to which what the rank said is forgotten; nothing: none of it is.
  std::optional<wire::Step> forgotten_before(wire::Rank rank, Followed now) const;
  /// Steps from which on a rank follows another cycle, ascending, each once.
  std::vector<wire::Step> steps() const;
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Change {
    wire::Step from = 0;
    Followed before;
    bool is_announced = false;  ///< And not told.
  };
  using Changes = std::vector<Change>;
  /// Of a rank, however much room there is, since all of them are gone through; and however little there is.
  static constexpr std::size_t kMostOfRank = 4096, kFewestOfRank = 16;
  static constexpr std::uint64_t kBytesOfRank = 96;  ///< Besides its changes.

  const Change* latest_of(wire::Rank rank) const;
  const Followed& earliest_of(wire::Rank rank, const Followed& now) const;
  Followed take_back(wire::Rank rank);
  Followed add(wire::Rank rank, Change change, std::uint32_t now);
  bool make_room(std::uint64_t bytes);
  void make_room_for_one_more(Changes& changes);
  static void forget_all_but(std::size_t latest, Changes& changes);
  void resize_to(std::size_t most, Changes& changes);

  std::uint64_t budget_;
  std::uint64_t bytes_ = 0;
  std::size_t most_of_rank_ = kMostOfRank;  ///< Halved whenever there is no room.
  std::map<wire::Rank, Changes> ranks_;     ///< Of each its changes, the earliest first; one at least.
};

}  // namespace idlewave::timeline
