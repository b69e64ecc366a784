#pragma once
// What ranks of a domain take from each other.

#include <optional>
#include <vector>

#include "monitor/analysis/domains/concurrency.h"

namespace idlewave::analysis::domains {

/// Tells apart ranks that worked longer because they had more to do, and ranks that shared their memory interface with more
/// others (Progress::alone). Whether the work of a domain is of a kind that is slowed by others is learnt from the session.
/// It is, if its ranks move as many bytes as that many ranks can; if the times that work would have taken alone vary less
/// than the times it took; or if work took longer the more ranks were at work beside it, in this domain or in several
/// together, since a domain of few ranks in noise does not show it by itself. The timeline must outlive it.
class Contention {
 public:
  /// The work of one step: how long it took, and how long it would have taken alone.
  struct Sample {
    double time = 0, alone = 0;
    double slowdown() const { return time / alone; }
  };

  explicit Contention(const timeline::Timeline& timeline);

  /// Its domain's bandwidth is known to be what its ranks share.
  bool matters_to(wire::Rank rank) const;
  /// The time that the work of this step would have taken alone; where contention does not matter, the time it took.
  /// Costs in proportion to the ranks of the domain.
  double alone(wire::Rank rank, const steps::StepCourse& course) const;
  /// Seconds by which the rank worked longer in the step that began at `begin` than around it because more others were
  /// active; less than 0 where it was shorter. 0 where contention does not matter. Costs as much as two dozen of `alone`.
  /// Of the steps around it, where kinds of steps come in turn, those of its kind.
  double owed_to_others(wire::Rank rank, wire::Step step, wire::Nanoseconds begin, std::size_t period) const;
  /// Those who share an interface with this rank; none where it does not matter.
  const std::vector<wire::Rank>& mates(wire::Rank rank) const;

 private:
  double time_alone(int domain, const steps::StepCourse& course) const;
  std::vector<Sample> samples_of(int domain) const;
  bool is_used_up(int domain) const;
  bool is_shared_in_several() const;

  const timeline::Timeline& timeline_;
  std::vector<Bandwidth> bandwidths_;                ///< By domain.
  mutable std::vector<std::optional<bool>> shared_;  ///< By domain; found out when it is asked for.
  mutable std::optional<bool> shared_in_several_;
};

}  // namespace idlewave::analysis::domains
