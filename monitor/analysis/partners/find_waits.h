#pragma once
// Whom each rank waits for in each wait of a step, whatever part of whatever step others do that it waits for.

#include <compare>
#include <utility>
#include <vector>

#include "monitor/analysis/look_budget.h"
#include "monitor/analysis/partners/step_waits.h"
#include "monitor/analysis/steps/wait_sample.h"

namespace idlewave::analysis::partners {

/// A wait is over when all whom it is for have begun a certain wait of theirs, in the same step, or one or two before or behind it,
/// and their messages have come. One by one those posts are added that explain best when it was over, as long as there is
/// something to explain. Then those that many ranks have found, as far as they are at the same distance, are asked for once more, of all.
/// Costs ranks^2 times waits^2 times rows, for each partner of a rank; however the work is cut, the same is found. One thread.
class WaitSearch {
 public:
  explicit WaitSearch(steps::WaitSample sample) : sample_(std::move(sample)) {}

  /// Until the budget is spent, and to the end of the wait that is asked for then. False once it is done.
  bool advance(LookBudget& budget);

  // When it is done:
  std::vector<StepWaits> found() const;
  /// Of all waiting in the sample: by how much the ends are off.
  double unexplained() const;

 private:
  /// From a rank to whose post.
  struct Way {
    wire::Rank offset = 0;
    std::size_t wait = 0;
    int later = 0;
    friend auto operator<=>(const Way&, const Way&) = default;
  };
  struct Found {
    std::size_t rank = 0, wait = 0;
    std::vector<Way> ways;
    double off = 0, waited = 0;
  };

  bool is_done() const { return sample_.is_read() && asked_again_ == found_.size(); }
  void begin();
  void find_common_ways();
  std::vector<Way> all_ways() const;
  /// Whose post that way leads to.
  std::size_t at(std::size_t rank, const Way& way) const;
  void ask(Found& its, const std::vector<Way>& ways, double worth_it, double limit, LookBudget& budget);

  steps::WaitSample sample_;
  std::vector<Found> found_;
  std::vector<Way> all_, common_;
  std::size_t asked_ = 0, asked_again_ = 0;
};

}  // namespace idlewave::analysis::partners
