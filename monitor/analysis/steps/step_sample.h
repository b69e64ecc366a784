#pragma once
// Some steps of ranks that lie beside each other: the ground on which it is told who waits for whom.

#include <cstddef>
#include <span>
#include <vector>

#include "monitor/analysis/steps/common_steps.h"

namespace idlewave::analysis::steps {

/// When somebody was late, so that others had to wait.
struct LateMoment {
  Rank rank = 0;
  Step step = wire::kNoStep;
  Nanoseconds at{};
  friend bool operator==(const LateMoment&, const LateMoment&) = default;
};

/// Begins of waits and ends of steps, nanoseconds from any moment of that step. Not a number: not known.
class StepSample {
 public:
  /// Of so many ranks of a program, the same number in each row.
  StepSample(Rank ranks, std::size_t width) : ranks_(ranks), width_(width) {}

  /// Of all ranks, or of more than a thousand of groups of neighbours: of the steps in which they are farthest apart, and of
  /// others.
  static StepSample of(const CommonSteps& steps);
  /// Of the steps around the latest of these moments, and of ranks about them. Costs at most some hundred thousand looks
  /// at steps, however long the session.
  static StepSample about(const timeline::Timeline& timeline, std::span<const LateMoment> moments);

  /// One more row, of ranks from `first` on, round the ring.
  void add(Rank first, std::span<const double> posts, std::span<const double> ends);
  /// Leaves this many rows at most, half of them those in which ranks are farthest apart.
  void keep(std::size_t rows);
  template <class Is>
  void erase_rows_if(Is is) {
    std::size_t kept = 0;
    for (std::size_t row = 0; row < rows(); ++row)
      if (!is(row)) copy_row(row, kept++);
    cut(kept);
  }

  Rank ranks() const { return ranks_; }
  std::size_t width() const { return width_; }
  std::size_t rows() const { return firsts_.size(); }
  bool has_all_ranks() const { return width_ == std::size_t(ranks_); }
  std::span<const double> posts(std::size_t row) const { return {posts_.data() + row * width_, width_}; }
  std::span<const double> ends(std::size_t row) const { return {ends_.data() + row * width_, width_}; }
  Rank rank(std::size_t row, std::size_t place) const { return Rank((firsts_[row] + Rank(place)) % ranks_); }
  /// Where a row has a rank; -1: it has not.
  std::ptrdiff_t place(std::size_t row, Rank rank) const;

 private:
  double spread(std::size_t row) const;
  void copy_row(std::size_t from, std::size_t to);
  void cut(std::size_t rows);

  Rank ranks_;
  std::size_t width_;
  std::vector<Rank> firsts_;
  std::vector<double> posts_, ends_;
};

/// The rank at an offset, round the ring; -1 outside a chain, and where that is the rank itself.
Rank rank_at(Rank rank, Rank offset, Rank ranks, bool ring);

}  // namespace idlewave::analysis::steps
