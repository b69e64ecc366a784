#pragma once
// Whom ranks say that they wait for, with an answer where they say that their sends may wait.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::partners {

/// Of sends that may wait for their receivers, those that are alike: how far they go, and whether to another node.
struct SendKind {
  wire::Rank offset = 0;  ///< From the sender to the receiver, the shorter way round.
  bool leaves_node = false;
  friend auto operator<=>(const SendKind&, const SendKind&) = default;
};

/// What is held of such sends: they wait for their receivers (rendezvous), or they don't (eager). Nothing: not known.
struct SendRules {
  std::map<SendKind, bool> wait{};
  std::optional<bool> others{};  ///< Of all kinds that are not named.

  std::optional<bool> of(SendKind kind) const {
    const auto named = wait.find(kind);
    return named == wait.end() ? others : named->second;
  }
};

/// Ranks may not know whether their sends wait (wire::WaitPattern::uncertain without `rendezvous`). By the rules it is said
/// as if they knew; of a send of which these say nothing it is left open, as it stands in the pattern, with all others of its
/// wait that may wait. A send to a rank that is received from in the same wait needs no rule. The timeline must outlive it,
/// and keep its rosters: what is given points to either. One thread. Costs nothing where all know; else each cycle is looked
/// through once, for each way in which its sends leave nodes.
class SaidWaits {
 public:
  /// Implicit: what a timeline has is what ranks say by themselves.
  SaidWaits(const timeline::Timeline& timeline, SendRules rules = {});

  const timeline::Timeline& timeline() const { return timeline_; }
  const SendRules& rules() const { return rules_; }
  /// Some rank does not know.
  bool has_uncertain() const { return has_uncertain_; }
  /// As Timeline::declared_waits.
  std::optional<timeline::DeclaredWaits> by(wire::Rank rank) const;
  /// A rank that knows now, and did not yet, is taken to have waited as it says now, if it receives the same; else to have
  /// sent as it says now to those to whom it sends always so.
  std::optional<timeline::DeclaredWaits> by(wire::Rank rank, wire::Step step) const;
  /// Of the sends in what the rank follows in that step that need a rule.
  std::set<SendKind> uncertain_kinds(wire::Rank rank, wire::Step step) const;

 private:
  using Cycle = const wire::WaitCycle*;
  /// In the words of one who knows, as far as that is known.
  struct Settled {
    wire::WaitCycle cycle;
    std::vector<wire::WaitPattern> patterns;
  };

  const std::vector<wire::Rank>& uncertain_offsets(const timeline::DeclaredWaits& raw) const;
  std::vector<bool> leave_node(wire::Rank rank, const std::vector<wire::Rank>& offsets) const;
  timeline::DeclaredWaits settled(wire::Rank rank, const timeline::DeclaredWaits& raw) const;
  std::map<wire::Rank, std::optional<bool>> rules_for(const std::vector<wire::Rank>& offsets,
                                                      const std::vector<bool>& leave) const;

  const timeline::Timeline& timeline_;
  SendRules rules_;
  bool has_uncertain_ = false;
  mutable std::map<Cycle, std::vector<wire::Rank>> offsets_;  ///< Of sends that need a rule.
  mutable std::map<std::pair<Cycle, std::vector<bool>>, std::unique_ptr<const Settled>> settled_;
};

}  // namespace idlewave::analysis::partners
