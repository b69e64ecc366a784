#pragma once
// Whom ranks wait for, by a sample of their steps: a rule that holds for all of them, or each rank's own partners.

#include <optional>
#include <vector>

#include "monitor/analysis/partners/exchange_search.h"
#include "monitor/analysis/partners/find_graph.h"

namespace idlewave::analysis::partners {

/// Some work at a time; however it is cut, the same is found. Where no rule explains when ranks went on, and the sample has
/// all of them, each is asked by itself. One thread.
class SampleSearch {
 public:
  explicit SampleSearch(steps::StepSample sample) : exchange_(std::move(sample)) {}

  /// Until the budget is spent. False once it is done.
  bool advance(LookBudget& budget);

  // When it is done:
  /// Null: none was found, or each rank's own partners explain so much more.
  const Exchange* exchange() const;
  const Graph* graph() const { return graph_found_ ? &*graph_found_ : nullptr; }
  /// Nanoseconds by which ends are off, in the mean, by what was found; infinity: nothing was.
  double off() const { return off_; }
  const steps::StepSample& sample() const { return exchange_.sample(); }

 private:
  enum class Doing : std::uint8_t { kFitsRules, kAsksEachRank, kIsDone };

  void begin_graph();
  void end_graph();

  Doing doing_ = Doing::kFitsRules;
  ExchangeSearch exchange_;
  double off_ = 0;
  std::optional<GraphSearch> graph_;
  std::optional<Graph> graph_found_;
};

}  // namespace idlewave::analysis::partners
