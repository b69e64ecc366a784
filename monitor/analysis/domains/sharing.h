#pragma once
// How much longer ranks worked because others of their domain worked as well.

#include <vector>

#include "monitor/analysis/domains/activity.h"
#include "monitor/analysis/per_rank.h"

namespace idlewave::analysis::domains {

/// Goes through the work of a whole domain at once, where Contention asks for one step of one rank. The timeline must
/// outlive it; one thread.
class Sharing {
 public:
  /// Of steps that begin within the window. Nothing is known before look_at.
  Sharing(const timeline::Timeline& timeline, Window window);

  /// Costs n log n of the rank-steps of the domain that it returns; 0 and nothing known where b(n) is not.
  std::size_t look_at(std::size_t domain);
  /// What the work of the step that the rank began then took longer than it would have alone; 0 where that is not known.
  Nanoseconds slowed(Rank rank, Nanoseconds begin) const;

 private:
  struct SlowedStep {
    Nanoseconds begin{};
    Nanoseconds slowed{};
  };
  const timeline::Timeline& timeline_;
  Window window_;
  PerRank<std::vector<SlowedStep>> ranks_;  ///< Oldest first.
};

}  // namespace idlewave::analysis::domains
