#pragma once
// Whom ranks wait for, told by the times alone.

#include <memory>
#include <span>
#include <vector>

#include "monitor/analysis/partners/find_waits.h"
#include "monitor/analysis/partners/partners.h"
#include "monitor/analysis/partners/sample_search.h"

namespace idlewave::analysis::partners {

/// From the times alone, as `sim --from` does (exchange_search.h), some work at a time; where no rule that holds for all
/// ranks explains them, and there are not too many ranks to be seen at once, whom each rank waits for. Where ranks wait
/// before their work, as in a pipeline, it is asked first whether nine tenths of their waiting go with what others do behind
/// theirs. Where more than a tenth of the waiting is left, each wait of a step is asked by itself, also for what others do some
/// steps before or behind (find_waits.h). What is found hangs on the moments and what was known when it began, however the work
/// is cut. In all at most some seconds of a core; nothing without moments. The timeline must outlive it; one thread.
class PartnerInference {
 public:
  /// Takes a sample of the steps. `usual_step`: what is later by a quarter of that is late.
  PartnerInference(const timeline::Timeline& timeline, std::span<const steps::LateMoment> moments,
                   wire::Nanoseconds usual_step);

  /// Until the budget is spent. False once it is done.
  bool advance(LookBudget& budget);

  // When it is done:
  Partners partners() const;
  /// The same as how each rank waits in a step; nothing where that can't be told, also where all wait for the latest.
  std::vector<StepWaits> waits() const;
  /// Ranks wait for what others do behind their own waits.
  bool are_by_turns() const { return are_by_turns_; }
  /// Whole steps explain too little: it was found wait by wait.
  bool are_by_waits() const { return by_waits_ != nullptr; }

 private:
  /// Share of the waiting in the sample, by what was found of whole steps.
  double unexplained() const;
  void take_waits();
  /// Null: nothing was found.
  const SampleSearch* found() const;

  wire::Rank ranks_;
  /// All wait for the latest of all; the share of the waiting that this does not explain.
  std::optional<double> left_by_latest_;
  std::unique_ptr<SampleSearch> steps_;  ///< Null: there is nothing to search in.
  std::unique_ptr<SampleSearch> turns_;  ///< Null: ranks wait behind their work, or it explains too little.
  bool are_by_turns_ = false;
  std::unique_ptr<WaitSearch> waits_;  ///< Null: there is nothing to search in, or it explains too little.
  std::shared_ptr<const RankPartners> by_waits_;
};

}  // namespace idlewave::analysis::partners
