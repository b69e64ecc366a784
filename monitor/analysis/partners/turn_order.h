#pragma once
// Whether ranks first work in a step and then wait for what others do in the same step, or the other way round.

#include <memory>
#include <optional>
#include <vector>

#include "monitor/analysis/partners/partners.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::partners {

/// What ranks do first in their steps.
struct TurnOrder {
  /// Many of them wait, and work then, or wait for what others do in their next steps: causes are found by turns
  /// (turns.h).
  bool by_turns = false;
  /// Where many wait first, and none waits for one that waits for it as well, those that call MPI first in most of their
  /// latest steps, by rank: what they send goes out at the end of a step. Else null.
  std::shared_ptr<const std::vector<bool>> wait_first;
};
/// Of programs in which all say whom they wait for, or of which it was found wait by wait, which is never all, and that tell
/// no sums. In a sample of the latest steps
/// a quarter of the waiting has more work than `tolerance` behind it in its step, or a quarter of the ranks' steps begin with a
/// call that may wait, however short; neither is asked where most steps have parts (step_parts.h). Or a quarter of one rank's
/// waiting ends when one whom it waits for does its part of the next step, or a later part of the same. Where nobody waits for
/// longer than `tolerance` a step in that sample, the latter is asked of all ranks together, of each in a step of the run in
/// which it waited long. Costs some thousand rank-steps, and of a rank that waits for many up to 128 each.
TurnOrder turn_order(const timeline::Timeline& timeline, const Partners& partners, wire::Nanoseconds tolerance);
/// The same where that was inferred together with the partners.
TurnOrder found_turn_order(const timeline::Timeline& timeline, const Partners& partners, Nanoseconds tolerance);
/// Of programs whose calls say with whom they were, for half of the waiting in a sample of the latest steps: how often a rank
/// waits in one. Such steps are too long for anything but turns.
std::optional<int> waits_said_by_calls(const timeline::Timeline& timeline);

}  // namespace idlewave::analysis::partners
