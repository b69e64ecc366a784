#pragma once
// Who waits for whom.

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/partners/declared_partners.h"
#include "monitor/analysis/partners/unlike_counts.h"
#include "monitor/analysis/steps/step_course.h"
#include "monitor/analysis/steps/step_sample.h"

namespace idlewave::analysis::partners {

/// How it is known who waits for whom.
enum class PartnerSource { kInferred, kPartlyDeclared, kDeclared };

/// Rank r can't end a step before rank r + o has done its own part of that step, for each offset o. Where ranks have said
/// whom they wait for, or where that was told of each of them, each has its own; else all have partners at the same
/// distances. A receive from r - d makes the offset -d, a send by rendezvous to r + d the offset d; what waits for one
/// another within a step makes the sums of offsets.
struct Partners {
  /// Ascending, without 0. Empty: nobody was seen to wait for anybody. Of the whole run; offsets_in() of a part of it.
  std::vector<wire::Rank> offsets;
  /// Rank 0 is beside the last one.
  bool ring = true;
  /// In each step everybody waits for whoever is latest, as after a barrier; the offsets are then those that were looked
  /// at.
  bool collective = false;
  /// All ranks that were announced have said it, or some, or none.
  PartnerSource source = PartnerSource::kInferred;
  /// Ranks say more than there is room for: what they say is left out.
  bool left_out = false;
  /// Then a step of one rank is no step of another, and nothing can be told from both.
  std::optional<UnlikeCounts> unlike_counts = std::nullopt;
  /// Of each offset, over how many messages, one after another, a delay comes from there (step_waits.h); empty: over one.
  /// And over how many what a rank has done itself comes back to it.
  std::vector<std::uint8_t> messages{};
  int own_messages = 0;
  /// How far the farthest of them is; 0: not known.
  wire::Rank farthest = 0;
  /// As ranks do first in their steps (turn_order.h).
  bool by_turns = false;
  std::shared_ptr<const std::vector<bool>> wait_first = nullptr;
  /// Null: all have partners at these offsets.
  std::shared_ptr<const RankPartners> of_ranks = nullptr;

  bool waits_first(wire::Rank rank) const { return wait_first && (*wait_first)[std::size_t(rank)]; }
  /// When the rank had done what others wait for in that step.
  wire::Nanoseconds sent(wire::Rank rank, const steps::StepCourse& course) const {
    return waits_first(rank) ? course.end : course.post;
  }

  /// Else nobody can tell whom a rank waited for.
  bool are_known() const { return source != PartnerSource::kInferred || !offsets.empty(); }
  bool are_known_of(wire::Rank rank, wire::Step step) const {
    return of_ranks ? of_ranks->are_known_of(rank, step) : are_known();
  }
  /// Ranks have said that in this step everybody waits for everybody.
  bool said_collective(wire::Step step) const { return of_ranks && of_ranks->is_collective(step); }
  bool has_several_waits(wire::Step step) const { return of_ranks && of_ranks->has_several_waits(step); }

  /// Of all ranks, in the part of the run that a step belongs to.
  const std::vector<wire::Rank>& offsets_in(wire::Step step) const {
    return of_ranks ? of_ranks->offsets_in(step) : offsets;
  }
  bool are_collective_around(wire::Step step) const {
    return of_ranks ? of_ranks->are_collective_around(step) : collective;
  }
  /// Offsets of those whom a rank waits for in a step; outside of an open chain there is nobody.
  std::span<const wire::Rank> awaited(wire::Rank rank, wire::Step step) const {
    return of_ranks ? of_ranks->awaited(rank, step) : std::span<const wire::Rank>(offsets);
  }
  /// Those whom a rank waits for in a step, each with its offset from the rank.
  template <class F>
  void for_each_awaited(wire::Rank rank, wire::Step step, wire::Rank ranks, F tell) const {
    for (const wire::Rank offset : awaited(rank, step))
      if (const wire::Rank other = at(rank, offset, ranks); other >= 0) tell(other, offset);
  }
  /// The same of those that its own waits are for, with what of each: tell(other, offset, WaitsFor).
  template <class F>
  void for_each_directly(wire::Rank rank, wire::Step step, wire::Rank ranks, F tell) const {
    if (!of_ranks) return;
    of_ranks->for_each_directly(rank, step, [&](wire::Rank offset, WaitsFor what) {
      if (const wire::Rank other = at(rank, offset, ranks); other >= 0) tell(other, offset, what);
    });
  }
  /// Those for whom it would wait as well if those sends waited of which nobody knows it: tell(other, WaitsFor).
  template <class F>
  void for_each_perhaps(wire::Rank rank, wire::Step step, wire::Rank ranks, F tell) const {
    if (!of_ranks) return;
    of_ranks->for_each_perhaps(rank, step, [&](wire::Rank offset, WaitsFor what) {
      if (const wire::Rank other = at(rank, offset, ranks); other >= 0) tell(other, what);
    });
  }
  /// The same as for_each_awaited, with the number of messages, one after another, over which a delay comes from there.
  template <class F>
  void for_each_message(wire::Rank rank, wire::Step step, wire::Rank ranks, F tell) const {
    const auto offsets_of_it = awaited(rank, step);
    const auto counts = of_ranks ? of_ranks->messages(rank, step) : std::span<const std::uint8_t>(messages);
    for (std::size_t i = 0; i < offsets_of_it.size(); ++i)
      if (const wire::Rank other = at(rank, offsets_of_it[i], ranks); other >= 0)
        tell(other, offsets_of_it[i], i < counts.size() ? int(counts[i]) : 1);
  }
  /// What of another rank, at that offset, ends a wait of this one.
  WaitsFor what(wire::Rank rank, wire::Step step, wire::Rank offset) const {
    if (!of_ranks) return WaitsFor::kNotSaid;
    const auto offsets_of_it = of_ranks->awaited(rank, step);
    const auto found = std::ranges::lower_bound(offsets_of_it, offset);
    if (found == offsets_of_it.end() || *found != offset) return WaitsFor::kNotSaid;
    return of_ranks->what(rank, step)[std::size_t(found - offsets_of_it.begin())];
  }
  /// How many of them what the rank has done itself takes to come back to it; nothing beyond the end of a chain.
  int messages_to_itself(wire::Rank rank, wire::Step step, wire::Rank ranks) const {
    if (of_ranks) return of_ranks->own_messages(rank, step);
    for (const wire::Rank offset : offsets)
      if (!ring && (rank + offset < 0 || rank + offset >= ranks)) return 0;
    return own_messages;
  }
  /// The first of those; -1 if none is.
  template <class F>
  wire::Rank find_awaited(wire::Rank rank, wire::Step step, wire::Rank ranks, F is) const {
    for (const wire::Rank offset : awaited(rank, step))
      if (const wire::Rank other = at(rank, offset, ranks); other >= 0 && is(other)) return other;
    return -1;
  }
  /// Those who wait for a rank in a step, each with the rank's offset from it.
  template <class F>
  void for_each_waiter(wire::Rank rank, wire::Step step, wire::Rank ranks, F tell) const {
    if (of_ranks) {
      for (const wire::Rank offset : of_ranks->waiters(rank, step)) tell(at(rank, offset, ranks), -offset);
      return;
    }
    for (const wire::Rank offset : offsets)
      if (const wire::Rank other = at(rank, -offset, ranks); other >= 0) tell(other, offset);
  }

  /// Rank + offset, round the ring; -1 outside an open chain, and where that is the rank itself. Of ranks that have
  /// partners of their own, the shorter way round.
  wire::Rank at(wire::Rank rank, wire::Rank offset, wire::Rank ranks) const {
    return steps::rank_at(rank, offset, ranks, ring || of_ranks);
  }
};

}  // namespace idlewave::analysis::partners
