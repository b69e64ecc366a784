#pragma once
// Whose own part of a step ends the wait of a rank, found by going through the rounds of the step.

#include <utility>
#include <vector>

#include "tests/analysis/step_table.h"

namespace idlewave::test {

/// Of a table of that communication; both must outlive it.
class WaitRules {
 public:
  WaitRules(const support::Communication& communication, const Table& table) : c_(communication), table_(table) {}

  /// The rank whose post ended the wait, and when that was; itself where it did not wait.
  std::pair<wire::Rank, wire::Nanoseconds> last(wire::Rank rank, int step) const;
  /// Ranks whose part of the step is needed for the end of this rank's.
  std::vector<wire::Rank> offsets() const;

 private:
  using Done = std::vector<std::pair<wire::Nanoseconds, wire::Rank>>;

  std::vector<wire::Rank> hops(std::size_t round) const;
  Done after(const Done& done, std::size_t round) const;

  const support::Communication& c_;
  const Table& table_;
};

}  // namespace idlewave::test
