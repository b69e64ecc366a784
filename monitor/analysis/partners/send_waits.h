#pragma once
// Whether sends wait for their receivers, where the ranks don't know it: as their times tell.

#include <memory>

#include "monitor/analysis/look_budget.h"
#include "monitor/analysis/partners/said_waits.h"

namespace idlewave::analysis::partners {

/// Finds out whether those sends wait of which ranks are not sure (MPI_Sendrecv, whose send can't be looked at by itself).
///
/// A step of a rank tells it if one receiver of such a send did its part later than the rank itself and all those for whom
/// the rank waits in any case. If sends wait, the rank's step ends with that receiver. If they don't, some of these steps are
/// over before the receiver comes: how many is known from how long the rank's steps ordinarily go on after the last one has
/// come. Eight steps that would be over are enough, and fewer the later the receiver was: one, if it was late by eight times
/// as much as needed. Up to a quarter may disagree. Steps in which all meet tell nothing, nor do steps in which somebody works
/// after a wait, for a receive may be done before that.
///
/// Sends of one kind (SendKind) are judged together, as libraries choose by size and transport. Of a kind that is not told,
/// perhaps because some of its sends wait and some don't, nothing is said.
///
/// Costs nothing where all ranks know. Else it looks at some thousand rank-steps, spread evenly over ranks and steps, and at
/// those behind the latest delays, and composes whom ranks wait for once more for each kind; a piece at a time, of one rank
/// or one composition. What ranks say meanwhile may count as well. The timeline must outlive it, and no rank may join; one
/// thread.
class SendSearch {
 public:
  explicit SendSearch(const timeline::Timeline& timeline);
  SendSearch(SendSearch&&) noexcept;
  ~SendSearch();

  /// Until the budget is spent. False once it is done.
  bool advance(LookBudget& budget);
  bool is_done() const;
  /// When it is done.
  SendRules rules() const;

 private:
  struct LateReceiver;
  struct StepsSeen;
  class Votes;
  class Look;
  std::unique_ptr<Look> look_;  ///< Null: there is nothing to find out.
};

/// What ranks say, by what that finds when it has all the time that it takes.
SaidWaits with_sends_told(const timeline::Timeline& timeline);

}  // namespace idlewave::analysis::partners
