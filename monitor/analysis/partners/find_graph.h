#pragma once
// Whom each rank waits for, where no rule holds for all of them.

#include <vector>

#include "monitor/analysis/look_budget.h"
#include "monitor/analysis/steps/step_sample.h"

namespace idlewave::analysis::partners {

struct Graph {
  /// By rank: offsets of those whom it waits for, the shorter way round.
  std::vector<std::vector<Rank>> awaited;
  /// Nanoseconds by which ends are off, in the mean; as ExchangeFit::off_by. Infinity where nothing was found.
  double off = 0;
};

/// A rank goes on when it and all whom it waits for have begun to wait. One by one those are added that explain best when
/// a rank went on, as long as there is something to explain. Costs ranks^2 times rows, for each partner of a rank; however
/// the work is cut, the same is found. The sample must outlive it; one thread.
class GraphSearch {
 public:
  /// `sample` has all ranks.
  explicit GraphSearch(const steps::StepSample& sample) : sample_(sample) {}

  /// Until the budget is spent, and to the end of the rank that is asked then. False once it is done.
  bool advance(LookBudget& budget);
  /// Of a search that is done.
  Graph found() const;

 private:
  bool is_done() const { return awaited_.size() == sample_.width(); }
  void ask_next_rank(LookBudget& budget);

  const steps::StepSample& sample_;
  std::vector<std::vector<Rank>> awaited_;  ///< By rank, of those that were asked.
  double off_ = 0;                          ///< Their sum.
  std::size_t known_ = 0, partners_ = 0;
};

}  // namespace idlewave::analysis::partners
