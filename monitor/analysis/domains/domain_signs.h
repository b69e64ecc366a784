#pragma once
// What tells how the ranks of a domain stand to each other, by the steps that they have been through together.

#include <vector>

#include "monitor/analysis/domains/rounds.h"

namespace idlewave::analysis::domains {

struct Signs {
  double spread = 0;  ///< Median over the steps between the first begin and the last, in steps.
  double active = 0;  ///< Mean number at work.
  /// Way from the contention of lockstep, 0, to that of no more ranks than saturate the domain, 1.
  double relieved = 0;
  /// Variation of how long work would have taken alone, against that of how long it took: below 1 where ranks share what
  /// the domain gives, above where they do not.
  double unshared = 0;
  int slowest = -1;     ///< A member.
  double slowness = 1;  ///< Of the slowest: its work against the median of all, median over the steps.
  double next_slowness = 1;
};

/// What does not come above these tells nothing: it need not be found out.
struct LeastSigns {
  double relieved = 0;
  double slowness = 1;
};

/// The newest of a domain's rounds, those that are looked at. At least one.
class NewestRounds {
 public:
  NewestRounds(const Rounds& rounds, std::size_t count) : rounds_(rounds), count_(count) {}

  std::size_t size() const { return count_; }
  std::size_t members() const { return rounds_.members(); }
  const Round& operator[](std::size_t i) const { return rounds_[i]; }
  std::span<const MemberStep> of(std::size_t i) const { return rounds_.of(i); }
  const Round& oldest() const { return rounds_[count_ - 1]; }
  const Rounds& all() const { return rounds_; }
  /// Its place among these; nothing below size() where it is none of them.
  std::size_t place(const WorkChange& change) const { return rounds_[0].number - change.round; }

 private:
  const Rounds& rounds_;
  std::size_t count_;
};

/// What finding signs takes; lent, so that one does for all domains.
struct SignsRoom {
  std::vector<double> alone;  ///< Round by round, newest first, in each by member.
  std::vector<double> usual_alone;
  std::vector<double> values, more_values;
};

/// Costs in proportion to the steps in these rounds.
Signs find_signs(const NewestRounds& rounds, const wire::DomainInfo& info, Nanoseconds typical_step,
                 const LeastSigns& least, SignsRoom& room);

}  // namespace idlewave::analysis::domains
