#pragma once
// By whose posts the ends of a wait are explained best.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "monitor/analysis/partners/exchange.h"

namespace idlewave::analysis::partners {

/// A wait of one rank, in some steps: it is over when all whom it is for have posted, and their messages have come. Times are
/// nanoseconds from any moment of a step. One thread.
class EndsFit {
 public:
  enum class Messages : std::uint8_t { kTakeNoTime, kTakeTime };
  /// Of the difference that is left: what another partner takes of it, and one that is common.
  static constexpr double kWorthIt = 0.1, kWorthCommon = 0.05;
  /// Of all ranks: so many have found a partner that is common.
  static constexpr double kCommon = 0.25;

  EndsFit(double worth_it, Messages messages) : worth_it_(worth_it), messages_(messages) {}

  /// In the step of that number.
  void add(std::size_t row, double begin, double end) {
    rows_.push_back(row), explained_.push_back(begin), ends_.push_back(end);
    off_ += std::abs(end - begin);
  }
  /// Of the candidates those that explain it: that first which explains most, then others as long as they are worth it. The
  /// post of one in a step is posts_of(candidate)(row); not a number: not known.
  template <class Candidate, class PostsOf>
  std::vector<Candidate> explain(const std::vector<Candidate>& candidates, PostsOf posts_of) {
    std::vector<Candidate> found;
    while (found.size() < kMostPartners) {
      const Candidate* const best = best_of(candidates, posts_of);
      if (!best) break;
      const auto posts = posts_of(*best);
      if (found.empty() && messages_ == Messages::kTakeTime) transfer_ = least_time_after(posts);
      take(posts);
      found.push_back(*best);
    }
    return found;
  }

  /// By how much its ends are off what explains them, in sum.
  double off() const { return off_; }
  std::size_t known() const { return rows_.size(); }
  /// That this has cost (LookBudget).
  std::uint64_t looks() const { return looks_; }

 private:
  static constexpr std::size_t kMostPartners = 16;
  /// Of the times between a message and the end of the wait for it: nothing takes less than a message takes.
  static constexpr double kLeastTimes = 0.1;

  /// Null where none is worth it.
  template <class Candidate, class PostsOf>
  const Candidate* best_of(const std::vector<Candidate>& candidates, PostsOf& posts_of) {
    const Candidate* best = nullptr;
    double least = off_;
    for (const Candidate& candidate : candidates)
      if (const double off = off_with(posts_of(candidate), least); off < least) best = &candidate, least = off;
    return least > (1 - worth_it_) * off_ || off_ - least <= kRounding ? nullptr : best;
  }
  template <class Posts>
  double off_with(const Posts& posts, double least) {
    double off = 0;
    std::size_t k = 0;
    for (; k < rows_.size() && off < least; ++k) off += std::abs(std::max(explained_[k], comes(posts, k)) - ends_[k]);
    looks_ += k + 1;
    return off;
  }
  template <class Posts>
  void take(const Posts& posts) {
    off_ = 0;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      explained_[k] = std::max(explained_[k], comes(posts, k));
      off_ += std::abs(explained_[k] - ends_[k]);
    }
  }
  /// Its message.
  template <class Posts>
  double comes(const Posts& posts, std::size_t k) const {
    const double post = posts(rows_[k]);
    return std::isnan(post) ? explained_[k] : post + transfer_;
  }
  template <class Posts>
  double least_time_after(const Posts& posts) const {
    std::vector<double> times;
    for (std::size_t k = 0; k < rows_.size(); ++k)
      if (const double comes_at = comes(posts, k); comes_at > explained_[k] && comes_at <= ends_[k])
        times.push_back(ends_[k] - comes_at);
    if (times.empty()) return 0;
    const auto least = times.begin() + std::ptrdiff_t(kLeastTimes * double(times.size()));
    std::ranges::nth_element(times, least);
    return *least;
  }

  double worth_it_;
  Messages messages_;
  std::vector<std::size_t> rows_;
  std::vector<double> explained_, ends_;
  double off_ = 0, transfer_ = 0;
  std::uint64_t looks_ = 1;
};

}  // namespace idlewave::analysis::partners
