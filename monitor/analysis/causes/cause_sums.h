#pragma once
// What each rank waited and made others wait, summed up while waits are traced.

#include <vector>

#include "monitor/analysis/causes/rank_causes.h"
#include "monitor/analysis/partners/step_waits.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::causes {

/// What is no rank, and may have made one wait all the same.
inline constexpr Rank kBandwidth = -1;
inline constexpr Rank kTransfer = -2;
inline constexpr Rank kUnknownCause = -3;

/// Goes through a window's waits, oldest first, and says of each who caused it.
class Tally {
 public:
  Tally() = default;
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  virtual ~Tally() = default;

  /// Goes on until about so many rank-steps have been looked at. False: there are no more.
  virtual bool advance(std::size_t rank_steps) = 0;
  /// Of what has been gone through; all other waiting of the window is of unknown cause.
  virtual Causes causes() const = 0;
};

/// One thread.
class CauseSums {
 public:
  explicit CauseSums(std::size_t ranks) : ranks_(ranks) {}

  RankCauses& of(Rank rank) { return ranks_.of(std::size_t(rank)); }
  /// So much of what `rank` waited was because of `cause`.
  void add(Rank rank, Rank cause, Nanoseconds length, bool direct);
  /// Of what ended it, where that is said.
  void add_end(Rank rank, partners::WaitsFor what, Nanoseconds length);
  /// What steps of the window have of waiting beside what was added is of unknown cause.
  Causes within(const timeline::Timeline& timeline, Window window) const;

 private:
  PerRank<RankCauses> ranks_;
};

}  // namespace idlewave::analysis::causes
