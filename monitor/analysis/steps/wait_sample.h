#pragma once
// Some steps of all ranks, wait by wait, with the steps about them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "monitor/analysis/steps/sampled_steps.h"

namespace idlewave::analysis::steps {

/// Waits of a step are numbered as they come; of a rank those steps alone are known in which it waits as often as in most.
/// Nanoseconds from any moment of that row; not a number: not known. The timeline must outlive it; one thread.
class WaitSample {
 public:
  /// Steps that a post may be earlier or later than the wait that it ends.
  static constexpr int kFarthest = 2;

  /// A row for each step. No more work than `tolerance` between two waits makes them one.
  WaitSample(const timeline::Timeline& timeline, std::vector<StepOfSome> rows, wire::Nanoseconds tolerance);

  /// Costs the events of these steps, and of some before and behind each.
  void read_next_rank();
  std::uint64_t looks_to_read() const;  ///< Of a LookBudget, for a rank.
  bool is_read() const { return of_ranks_.size() == std::size_t(timeline_.ranks()); }

  // When all ranks are read:
  std::size_t ranks() const { return of_ranks_.size(); }
  std::size_t rows() const { return rows_.size(); }
  std::size_t waits(std::size_t rank) const { return of_ranks_[rank].ends.size(); }
  /// When that wait began, and when it was over.
  std::span<const double> begins(std::size_t rank, std::size_t wait) const { return of_ranks_[rank].begins[wait]; }
  std::span<const double> ends(std::size_t rank, std::size_t wait) const { return of_ranks_[rank].ends[wait]; }
  /// When the rank had done something and began to wait, so many steps later; waits(rank): when it had, and the step ended. Who
  /// has done nothing since its last wait has nothing new for others: that wait and theirs may have been for the same. But what it
  /// starts as a step begins counts for waits of that step and of later ones: those for the same were over a step before.
  std::span<const double> posts(std::size_t rank, std::size_t wait, int later) const {
    return of_ranks_[rank].posts[wait][std::size_t(later + kFarthest)];
  }

 private:
  using Column = std::vector<double>;
  struct OfRank {
    std::vector<Column> begins, ends;
    std::vector<std::array<Column, 2 * kFarthest + 1>> posts;
  };

  const timeline::Timeline& timeline_;
  std::vector<StepOfSome> rows_;
  wire::Nanoseconds tolerance_;
  std::vector<OfRank> of_ranks_;
};

/// Of those rows the ones whose steps, and two more, all ranks have behind them, as many as are looked at while a run goes on.
std::vector<StepOfSome> rows_to_look_at(const timeline::Timeline& timeline, std::span<const StepOfSome> rows);

}  // namespace idlewave::analysis::steps
