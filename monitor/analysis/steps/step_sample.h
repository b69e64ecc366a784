#pragma once
// Some steps of ranks that lie beside each other: the ground on which it is told who waits for whom.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/steps/common_steps.h"
#include "monitor/analysis/steps/sampled_steps.h"

namespace idlewave::analysis::steps {

/// When ranks do their part of a step, for which others wait.
enum class Order : std::uint8_t {
  kWorkFirst,   ///< Before they wait in it.
  kAsEachDoes,  ///< Before that or behind it, as each rank does where it waits longest.
};

/// Begins and ends of waits, and when the rank's part was done, nanoseconds from any moment of that step. Not a number: not
/// known.
class StepSample {
 public:
  /// Of so many ranks of a program, the same number in each row.
  StepSample(Rank ranks, std::size_t width, Order order = Order::kWorkFirst)
      : ranks_(ranks), width_(width), order_(order) {}

  /// Of all ranks, or of more than a thousand of groups of neighbours: of the steps in which they are farthest apart, and of
  /// others.
  static StepSample of(const CommonSteps& steps);
  /// Of the steps around the latest of these moments, and of ranks about them. Costs at most some hundred thousand looks
  /// at steps, however long the session.
  static StepSample about(const timeline::Timeline& timeline, std::span<const LateMoment> moments);
  /// Of those steps, in the order in which each rank does its part and waits. Nothing where hardly any waits first. Costs
  /// as much again, and the events of these steps.
  static std::optional<StepSample> by_turns(const timeline::Timeline& timeline, std::span<const StepOfSome> rows);

  /// One more row, of ranks from `first` on, round the ring.
  void add(Rank first, std::span<const double> posts, std::span<const double> ends) { add(first, posts, posts, ends); }
  void add(Rank first, std::span<const double> posts, std::span<const double> done, std::span<const double> ends);
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
  /// Then their parts are done when they begin to wait.
  bool works_first() const { return order_ == Order::kWorkFirst; }
  bool has_all_ranks() const { return width_ == std::size_t(ranks_); }
  /// When they begin to wait.
  std::span<const double> posts(std::size_t row) const { return {posts_.data() + row * width_, width_}; }
  /// When they have done what others wait for.
  std::span<const double> done(std::size_t row) const { return {done_.data() + row * width_, width_}; }
  std::span<const double> ends(std::size_t row) const { return {ends_.data() + row * width_, width_}; }
  Rank rank(std::size_t row, std::size_t place) const { return Rank((firsts_[row] + Rank(place)) % ranks_); }
  /// Where a row has a rank; -1: it has not.
  std::ptrdiff_t place(std::size_t row, Rank rank) const;

 private:
  double spread(std::size_t row) const;
  double longest_wait(std::size_t row) const;
  void copy_row(std::size_t from, std::size_t to);
  void cut(std::size_t rows);

  Rank ranks_;
  std::size_t width_;
  Order order_;
  std::vector<Rank> firsts_;
  std::vector<double> posts_, done_, ends_;
};

/// The rank at an offset, round the ring; -1 outside a chain, and where that is the rank itself.
Rank rank_at(Rank rank, Rank offset, Rank ranks, bool ring);

}  // namespace idlewave::analysis::steps
