#pragma once
// Whom each rank waits for, where no rule holds for all of them.

#include <vector>

#include "monitor/analysis/look_budget.h"
#include "monitor/analysis/partners/ends_fit.h"
#include "monitor/analysis/steps/step_sample.h"

namespace idlewave::analysis::partners {

struct Graph {
  /// By rank: offsets of those whom it waits for, the shorter way round.
  std::vector<std::vector<Rank>> awaited;
  /// Nanoseconds by which ends are off, in the mean; as ExchangeFit::off_by. Infinity where nothing was found.
  double off = 0;
};

/// A rank goes on when it has begun to wait and all whom it waits for have done their part, and their messages have come. One by
/// one those are added that explain best when a rank went on, as long as there is something to explain. Then distances that many
/// have found are asked for once more, of all: of ranks that do the same at the same time the one at such a distance is meant.
/// Where ranks wait before their work, it is asked instead of a rank for which several others wait whether it waits for all of
/// these, as a master does for its workers, of whom each is the last now and then.
/// Costs ranks^2 times rows, for each partner of a rank; however the work is cut, the same is found. The sample must outlive it;
/// one thread.
class GraphSearch {
 public:
  /// `sample` has all ranks.
  explicit GraphSearch(const steps::StepSample& sample) : sample_(sample) {}

  /// Until the budget is spent, and to the end of the rank that is asked then. False once it is done.
  bool advance(LookBudget& budget);
  /// Of a search that is done.
  Graph found() const;

 private:
  struct Found {
    std::vector<Rank> offsets;
    double off = 0;  ///< The sum of all rows.
    std::size_t known = 0;
  };

  bool is_done() const { return asked_again_ == sample_.width(); }
  Found ask(std::size_t rank, const std::vector<std::size_t>& others, double worth_it, LookBudget& budget) const;
  void ask_next_rank(LookBudget& budget);
  void ask_next_rank_again(LookBudget& budget);
  void find_common_offsets();
  void ask_for_those_who_wait_for(std::size_t rank, LookBudget& budget);
  Found found_by(const EndsFit& fit, std::size_t rank, const std::vector<std::size_t>& others) const;

  const steps::StepSample& sample_;
  std::vector<Found> found_;  ///< By rank, of those that were asked.
  std::size_t asked_again_ = 0;
  std::vector<Rank> common_;  ///< Offsets, once all were asked.
};

}  // namespace idlewave::analysis::partners
