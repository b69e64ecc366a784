#pragma once
// Who waits for whom, rank by rank: as the ranks themselves said, or as was found out.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/partners/said_waits.h"
#include "monitor/analysis/partners/step_waits.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::partners {

/// Whom each rank waits for within a step, and who waits for it, as offsets between ranks, the shorter way round. Where a
/// step has several waits, one after the other, it waits for those as well that its partners have waited for before:
/// rank a that receives from b, after b has received from c, has c's offset too. Where ranks wait for others from some step
/// on, each part of the run between such steps has its own. Immutable; any thread.
class RankPartners {
 public:
  /// Of ranks that wait for those at these offsets, the shorter way round, in all steps.
  static std::shared_ptr<const RankPartners> of(const std::vector<std::vector<wire::Rank>>& awaited);
  /// The same, wait by wait, of all ranks. Null: more than some hundred offsets for each.
  static std::shared_ptr<const RankPartners> of_waits(std::span<const StepWaits> waits);
  /// Null if no rank says whom it waits for; also if that is more than some hundred offsets for each, or, where few of
  /// all ranks were heard, more than fits into a quarter of the timeline's budget. `others`: by rank, how
  /// those wait who don't say it, in the steps of which they don't; nothing for those of whom that is not known, or for all.
  /// Where ranks say other things so often that it is more than fits, or than can be read at once, steps are taken together.
  /// Costs in proportion to offsets; of few for each rank so much of a budget (LookBudget) for each.
  static constexpr std::uint64_t kLooksToCompose = 600;
  static std::shared_ptr<const RankPartners> declared_in(const SaidWaits& said, std::span<const StepWaits> others = {});

  std::span<const wire::Rank> awaited(wire::Rank rank, wire::Step step) const { return in(step).awaited.of(rank); }
  /// Over how many messages, one after another, a delay of each of those comes to the rank (step_waits.h).
  std::span<const std::uint8_t> messages(wire::Rank rank, wire::Step step) const {
    return in(step).awaited.messages_of(rank);
  }
  /// What of each of those ends its wait.
  std::span<const WaitsFor> what(wire::Rank rank, wire::Step step) const { return in(step).awaited.what_of(rank); }
  /// Calls tell(offset, WaitsFor) for those that its own waits are for, whatever these have waited for before.
  template <class F>
  void for_each_directly(wire::Rank rank, wire::Step step, F tell) const {
    const KindOfStep& kind = in(step);
    const Lists& lists = kind.directly.offsets.empty() ? kind.awaited : kind.directly;
    const auto offsets = lists.of(rank);
    const auto what = lists.what_of(rank);
    for (std::size_t i = 0; i < offsets.size(); ++i)
      if (what[i] != WaitsFor::kThroughOthers) tell(offsets[i], what[i]);
  }
  /// Calls tell(offset, WaitsFor) for those that it would wait for as well if those sends waited of which nobody knows it.
  template <class F>
  void for_each_perhaps(wire::Rank rank, wire::Step step, F tell) const {
    const Lists& perhaps = in(step).perhaps;
    if (perhaps.offsets.empty()) return;
    const auto offsets = perhaps.of(rank);
    const auto what = perhaps.what_of(rank);
    for (std::size_t i = 0; i < offsets.size(); ++i) tell(offsets[i], what[i]);
  }
  /// Over how many messages what it has done itself comes back to it through others; where sends wait, each wait is one more.
  int own_messages(wire::Rank rank, wire::Step step) const { return in(step).awaited.own[std::size_t(rank)]; }
  /// Offsets from the rank that is awaited to those who wait for it.
  std::span<const wire::Rank> waiters(wire::Rank rank, wire::Step step) const { return in(step).waiters.of(rank); }
  /// In that step nobody goes on before all ranks have come.
  bool is_collective(wire::Step step) const { return in(step).collective; }
  /// Some rank says that it waits more than once in that step, or all meet in it, however often.
  bool has_several_waits(wire::Step step) const { return in(step).has_several_waits; }
  /// Some rank says that it waits for all at some time of that step.
  bool has_collectives(wire::Step step) const { return in(step).has_collectives; }
  /// Else it may wait for others than for those that it is said to wait for here.
  bool are_known_of(wire::Rank rank, wire::Step step) const { return !steps_of(step).is_unknown[std::size_t(rank)]; }

  /// Of all ranks and steps, ascending; the first thousand.
  const std::vector<wire::Rank>& offsets() const { return offsets_; }
  /// The same of the part of the run that a step belongs to.
  const std::vector<wire::Rank>& offsets_in(wire::Step step) const { return steps_of(step).offsets; }
  /// Somebody waits across the ends.
  bool is_ring() const { return ring_; }
  bool has_collective_steps() const;
  /// Nearly all steps are collective: of the run, and of the part of it that a step belongs to.
  bool are_collective() const;
  bool are_collective_around(wire::Step step) const { return is_collective(steps_of(step)); }
  /// Of the run, in each of which ranks wait for others.
  std::size_t parts() const { return parts_.size(); }

 private:
  /// A list of offsets for each rank.
  struct Lists {
    std::vector<std::uint32_t> begins{0};
    std::vector<wire::Rank> offsets;
    /// Of each offset, and of each rank; empty in lists that are turned round.
    std::vector<std::uint8_t> messages, own;
    std::vector<WaitsFor> what;  ///< Of each offset; as above.

    static Lists of_all(const PerRank<Ways>& lists);
    /// By who is awaited.
    Lists turned_round() const;
    std::span<const wire::Rank> of(wire::Rank rank) const;
    std::span<const std::uint8_t> messages_of(wire::Rank rank) const;
    std::span<const WaitsFor> what_of(wire::Rank rank) const;
  };
  struct KindOfStep {
    Lists awaited, waiters;
    Lists directly;  ///< Empty: as awaited.
    Lists perhaps;   ///< Besides those; empty: of all sends it is known whether they wait.
    bool collective = false;
    bool has_several_waits = false;
    bool has_collectives = false;
  };
  /// The steps of a part of a run, or of several in which ranks say the same.
  struct Steps {
    std::vector<std::uint32_t> kind_of;  ///< Of step s at s mod its length: a place in kinds_.
    std::vector<bool> is_unknown;        ///< By rank.
    std::vector<wire::Rank> offsets;
  };
  /// Of a run, from a step on.
  struct Part {
    wire::Step from = 0;
    std::uint32_t steps = 0;  ///< A place in steps_.
  };
  class Reader;
  /// So many offsets for each rank, and some: who says more is not followed, however many of them there are.
  static constexpr std::size_t kMostForEach = 128, kMostForAll = std::size_t{1} << 16;
  const Steps& steps_of(wire::Step step) const;
  bool is_collective(const Steps& steps) const;
  const KindOfStep& in(wire::Step step) const;
  bool read_found(std::span<const StepWaits> waits);
  void add_only_part();
  void sum_up();
  void sum_up(Steps& steps);

  wire::Rank ranks_ = 0;
  std::vector<KindOfStep> kinds_;  ///< That differ.
  std::vector<Steps> steps_;
  std::vector<Part> parts_;  ///< One after the other, at least one; what is before the first is like it.
  std::vector<wire::Rank> offsets_;
  bool ring_ = false;
};

/// Of the ranks that were announced: how many say whom they wait for, now or in most of their steps.
enum class WhoDeclares { kNobody, kSome, kAll };
WhoDeclares who_declares(const SaidWaits& said);

}  // namespace idlewave::analysis::partners
