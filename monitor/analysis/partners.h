#pragma once
// Who waits for whom.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/declared_partners.h"
#include "monitor/analysis/step_course.h"

namespace idlewave::analysis {

/// Rank r can't end a step before rank r + o has done its own part of that step, for each offset o. Where ranks have said
/// whom they wait for, each has its own; else all have partners at the same distances, as far as the times tell. A
/// receive from r - d makes the offset -d, a send by rendezvous to r + d the offset d; what waits for one another within
/// a step makes the sums of offsets.
struct Partners {
  /// Ascending, without 0. Empty: nobody was seen to wait for anybody.
  std::vector<wire::Rank> offsets;
  /// Rank 0 is beside the last one.
  bool ring = true;
  /// In each step everybody waits for whoever is latest, as after a barrier; the offsets are then those that were looked
  /// at.
  bool collective = false;
  /// What ranks have said; null: all this is inferred.
  std::shared_ptr<const DeclaredPartners> declared = nullptr;

  /// Else nobody can tell whom a rank waited for.
  bool are_known() const { return declared || !offsets.empty(); }
  /// Ranks have said that in this step everybody waits for everybody.
  bool said_collective(wire::Step step) const { return declared && declared->is_collective(step); }

  /// Those whom a rank waits for in a step, each with its offset from the rank.
  template <class F>
  void for_each_awaited(wire::Rank rank, wire::Step step, wire::Rank ranks, F tell) const {
    for (const wire::Rank offset : declared ? declared->awaited(rank, step) : std::span<const wire::Rank>(offsets))
      if (const wire::Rank other = place(rank, offset, ranks); other >= 0) tell(other, offset);
  }
  /// Those who wait for a rank in a step, each with the rank's offset from it.
  template <class F>
  void for_each_waiter(wire::Rank rank, wire::Step step, wire::Rank ranks, F tell) const {
    if (declared) {
      for (const wire::Rank offset : declared->waiters(rank, step)) tell(place(rank, offset, ranks), -offset);
      return;
    }
    for (const wire::Rank offset : offsets)
      if (const wire::Rank other = at(rank, -offset, ranks); other >= 0) tell(other, offset);
  }

  /// Rank + offset, round the ring; -1 outside an open chain, and where that is the rank itself.
  wire::Rank at(wire::Rank rank, wire::Rank offset, wire::Rank ranks) const;
  /// The same; whoever has said that it has a partner, has it.
  wire::Rank place(wire::Rank rank, wire::Rank offset, wire::Rank ranks) const {
    return declared ? (rank + offset + ranks) % ranks : at(rank, offset, ranks);
  }
};

/// From the times alone. A rank that ends a step before another, which is late, has done its own part of it does not
/// wait for that one; an offset is one at which that (all but) never happens. Offsets that others imply (a neighbour's
/// neighbour who is reached within a step either way) can't be told apart from real ones, and make no difference to who
/// is late because of whom.
class PartnerSearch {
 public:
  /// Partners are looked for up to this distance, and not farther than half round.
  static constexpr wire::Rank kFarthest = 12;

  PartnerSearch(wire::Rank ranks, wire::Nanoseconds typical_step);

  /// One step of as many neighbouring ranks as there are in `row`, from `first` on, round the ring; where that is all of
  /// them the ends are compared as well. Nothing for a rank of which the step is not known. Costs two dozen looks at
  /// each.
  void add(wire::Rank first, std::span<const std::optional<StepCourse>> row);
  /// Offsets that nearly all steps within the row speak for, ascending.
  std::vector<wire::Rank> candidates() const;
  /// What these of the candidates make of all steps.
  Partners found(const std::vector<wire::Rank>& offsets) const;

 private:
  /// Steps in which a rank posted so late that whoever waits for it must have noticed, and how many of them another
  /// went through unmoved.
  struct Evidence {
    std::uint64_t told = 0;
    std::uint64_t violated = 0;

    bool speaks_for_it() const;
    Evidence operator+(const Evidence& more) const { return {told + more.told, violated + more.violated}; }
  };
  /// What steps of one kind have told.
  struct Told {
    std::array<Evidence, 2 * kFarthest + 1> inside, across;  ///< By offset, without and with going across the ends.
    std::uint64_t steps = 0;                                 ///< In which somebody was much later than most.
  };
  static std::size_t place(wire::Rank offset) { return std::size_t(offset + kFarthest); }
  wire::Rank round(wire::Rank rank) const { return ((rank % ranks_) + ranks_) % ranks_; }
  bool is_collective() const;
  const Told& telling() const { return is_collective() ? together_ : apart_; }
  Told& told_by(std::span<const std::optional<StepCourse>> row);
  void compare(Told& told, wire::Rank rank, wire::Rank offset, const StepCourse& mine, const StepCourse& its) const;
  static bool is_ring(const Told& told, const std::vector<wire::Rank>& offsets);

  wire::Rank ranks_;
  wire::Rank farthest_;
  wire::Nanoseconds late_;
  wire::Nanoseconds tolerance_;
  /// Steps that all ranks ended together, right after the latest post, tell nothing of neighbours where others do.
  Told together_, apart_;
};

/// A second look at the candidates. Where ranks are out of step, somebody else is often waited for just as long, so that
/// an offset at which nobody waits looks right in nearly all steps. Here only those steps speak for one in which no other
/// candidate explains how long a rank waited.
class PartnerReview {
 public:
  PartnerReview(std::vector<wire::Rank> candidates, wire::Rank ranks, wire::Nanoseconds typical_step);

  /// As PartnerSearch::add, of the same steps.
  void add(wire::Rank first, std::span<const std::optional<StepCourse>> row);
  /// Candidates that are left, ascending.
  std::vector<wire::Rank> upheld() const;

 private:
  struct Evidence {
    std::uint64_t confirmed = 0;
    std::uint64_t violated = 0;
  };
  struct Post {
    std::size_t candidate = 0;
    wire::Nanoseconds at{};
  };
  void weigh(const StepCourse& mine);

  std::vector<wire::Rank> candidates_;
  wire::Rank ranks_;
  wire::Nanoseconds late_;
  wire::Nanoseconds tolerance_;
  std::vector<Evidence> evidence_;  ///< By candidate.
  std::vector<Post> posts_;         ///< Of the rank that is looked at.
};

/// By both. for_each_row(visit) calls visit(first, row) as PartnerSearch::add takes it, twice the same.
template <class Rows>
Partners find_partners(wire::Rank ranks, wire::Nanoseconds typical_step, const Rows& for_each_row) {
  using Row = std::span<const std::optional<StepCourse>>;
  PartnerSearch search(ranks, typical_step);
  for_each_row([&](wire::Rank first, Row row) { search.add(first, row); });
  PartnerReview review(search.candidates(), ranks, typical_step);
  for_each_row([&](wire::Rank first, Row row) { review.add(first, row); });
  return search.found(review.upheld());
}

/// When somebody was late, so that others had to wait.
struct LateMoment {
  wire::Rank rank = 0;
  wire::Step step = wire::kNoStep;
  wire::Nanoseconds at{};
};

/// Looks in the steps that follow the latest of `moments`, at the ranks about them. Costs at most some million looks at
/// steps, however long the session.
Partners infer_partners(const timeline::Timeline& timeline, std::span<const LateMoment> moments,
                        wire::Nanoseconds typical_step);

}  // namespace idlewave::analysis
