#pragma once
// Whom ranks wait for, told by the times alone.

#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/partners/exchange_search.h"
#include "monitor/analysis/partners/find_graph.h"
#include "monitor/analysis/partners/partners.h"

namespace idlewave::analysis::partners {

/// From the times alone, as `sim --from` does (exchange_search.h), some work at a time; where no rule that holds for all
/// ranks explains them, and there are not too many ranks to be seen at once, whom each rank waits for. What is found hangs
/// on the moments and what was known when it began, however the work is cut. In all at most some seconds of a core; nothing
/// without moments. One thread.
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

 private:
  enum class Doing : std::uint8_t { kFitsRules, kAsksEachRank, kIsDone };

  void begin_graph();
  void end_graph();
  const Exchange* found_exchange() const;

  wire::Rank ranks_;
  Doing doing_ = Doing::kIsDone;
  bool collective_ = false;
  std::optional<ExchangeSearch> exchange_;  ///< Nothing: there is nothing to search in.
  double off_ = 0;                          ///< Nanoseconds, of the exchange that was found.
  std::optional<GraphSearch> graph_;
  std::optional<Graph> of_each_;  ///< That explains so much more.
};

}  // namespace idlewave::analysis::partners
