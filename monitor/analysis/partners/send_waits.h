#pragma once
// Whether sends wait for their receivers, where the ranks don't know it: as their times tell.

#include <memory>

#include "monitor/analysis/look_budget.h"
#include "monitor/analysis/partners/said_waits.h"

namespace idlewave::analysis::partners {

/// Finds out whether the sends wait that ranks are not sure of (MPI_Sendrecv, whose send can't be looked at by itself). A
/// step tells it in which one rank did its part later than the rank itself and all others for whom that waits either way,
/// and for whom it would wait only if these sends do. How long its steps go on behind the last one to come tells how many
/// such steps would be over before that receiver came, if its sends did not wait; that many were, where they don't, and none
/// where they do: then they end with it. Eight steps of those that would be over tell, and fewer the later the receiver was,
/// one that was so eight times as much as it had to be; up to a quarter may say otherwise. Nothing is told by steps in which
/// all meet, nor where somebody works behind a wait, who may receive before. Sends of one kind (SendKind) are told together,
/// as libraries choose by size and transport; of one that is not told, which may be since some wait and some don't, nothing
/// is said.
///
/// Free where all ranks know; else some thousand rank-steps are looked at, evenly over ranks and steps, and those behind the
/// latest delays, and whom ranks wait for is composed once more for each kind. Some of that at a time: of one rank, or one
/// composition. What ranks say meanwhile may count as well. The timeline must outlive it, and no rank may join; one thread.
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
