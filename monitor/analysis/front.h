#pragma once
// One front of an idle wave, followed from rank to rank through the records of steps.

#include <map>
#include <optional>

#include "monitor/analysis/waves.h"

namespace idlewave::analysis {

/// Borrowed timeline must outlive it. A rank counts as reached when, in one of the few steps after the front passed its
/// predecessor, it waits longer than is ordinary for it by more than its ordinary variation.
class Front {
 public:
  Front(const timeline::Timeline& timeline, const timeline::Delay& delay, int sign, Nanoseconds typical_step);

  bool moving() const { return moving_; }
  wire::Step latest_step() const { return step_; }
  /// Looks at the next rank; enters it into `reached` (with the step in which it was), or ends the front.
  void advance(std::map<Rank, wire::Step>& reached);
  /// The finished direction, with its speeds and decay.
  WaveDirection take();

 private:
  Rank next_rank() const;
  bool wrapped(Rank next) const;
  std::optional<FrontPoint> arrival_at(Rank rank) const;
  bool may_still_come(Rank rank) const;
  WaveEnd end_before(Rank rank, wire::Step reached_in) const;
  void stop(WaveEnd end);

  const timeline::Timeline& timeline_;
  Rank rank_;          ///< Reached last.
  wire::Step step_;    ///< In which it waited.
  Nanoseconds begin_;  ///< Of the delay: what is ordinary is learnt from before.
  Nanoseconds typical_step_;
  WaveDirection direction_;
  bool moving_ = true;
};

}  // namespace idlewave::analysis
