#pragma once
// Ranks of a domain that are at work at the same time, and what each of them is given of the memory interface.

#include <cstddef>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "monitor/analysis/domains/concurrency.h"

namespace idlewave::analysis::domains {

/// Each of n that are at work gets b(n) / n (afzal-2020, eq. 1). Work is counted by how long it would take alone. Times
/// and work are nanoseconds; moments may not decrease.
class Service {
 public:
  /// Of so many, counted from 0.
  Service(std::size_t ranks, const Bandwidth& bandwidth);

  void begin(std::size_t who, double work);
  /// Gives back what is left of its work.
  double stop(std::size_t who);
  bool is_at_work(std::size_t who) const { return targets_[who] >= 0; }
  /// Of one at work: what is left.
  double left(std::size_t who) const { return targets_[who] - given_; }

  /// At which the work of each goes on; 1 alone. Of nobody: 0.
  double speed() const { return speeds_[active_.size()]; }

  /// When the next is done, if nobody begins or stops; infinity if nobody is at work.
  double next_end() const;
  /// Who is done at that moment, which is then now.
  std::vector<std::size_t> end_next();
  /// Not beyond next_end().
  void advance(double to);

 private:
  std::vector<double> speeds_;   ///< b(n) / (n b(1)), by n.
  std::vector<double> targets_;  ///< What will have been given when it is done; -1: not at work.
  std::set<std::pair<double, std::size_t>> active_;
  double now_ = -std::numeric_limits<double>::infinity();
  double given_ = 0;  ///< To whoever was at work all the time.
};

}  // namespace idlewave::analysis::domains
