#include "monitor/analysis/partners/find_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "monitor/analysis/partners/step_waits.h"

namespace idlewave::analysis::partners {
namespace {

constexpr std::size_t kMostPartners = 16;
/// Of the difference that is left: what another partner takes of it, and one at a distance that is common.
constexpr double kWorthIt = 0.1, kWorthCommon = 0.05;
/// Of all ranks: so many have partners at a distance that is common.
constexpr double kCommon = 0.25;
/// Of the times between a message and the end of the wait for it: nothing takes less than a message takes.
constexpr double kLeastTimes = 0.1;
/// Nanoseconds: times are rounded.
constexpr double kRounding = 4;

/// Ends of one rank, as far as they have been explained.
class RankFit {
 public:
  RankFit(const steps::StepSample& sample, std::size_t rank, double worth_it)
      : sample_(sample), rank_(rank), worth_it_(worth_it) {
    for (std::size_t row = 0; row < sample.rows(); ++row) {
      const double post = sample.posts(row)[rank], end = sample.ends(row)[rank];
      if (std::isnan(post) || std::isnan(end)) continue;
      rows_.push_back(row), explained_.push_back(post), ends_.push_back(end);
      off_ += std::abs(end - post);
    }
  }

  /// False where none of these is worth it.
  bool add_best(std::span<const std::size_t> others) {
    std::size_t best = rank_;
    double least = off_;
    for (const std::size_t other : others)
      if (const double off = other == rank_ ? off_ : off_with(other, least); off < least) best = other, least = off;
    if (best == rank_ || least > (1 - worth_it_) * off_ || off_ - least <= kRounding) return false;
    if (offsets_.empty() && !sample_.works_first()) transfer_ = least_time_after(best);
    off_ = 0;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      explained_[k] = std::max(explained_[k], comes(best, k));
      off_ += std::abs(explained_[k] - ends_[k]);
    }
    offsets_.push_back(shorter_way(std::int64_t(best) - std::int64_t(rank_), Rank(sample_.width())));
    return true;
  }

  double off() const { return off_; }
  std::size_t known() const { return rows_.size(); }
  std::uint64_t looks() const { return looks_; }
  std::vector<Rank> offsets() const {
    std::vector<Rank> offsets = offsets_;
    std::ranges::sort(offsets);
    return offsets;
  }

 private:
  /// Its message.
  double comes(std::size_t other, std::size_t k) const {
    const double done = sample_.done(rows_[k])[other];
    return std::isnan(done) ? explained_[k] : done + transfer_;
  }
  double off_with(std::size_t other, double least) {
    double off = 0;
    std::size_t k = 0;
    for (; k < rows_.size() && off < least; ++k) off += std::abs(std::max(explained_[k], comes(other, k)) - ends_[k]);
    looks_ += k;
    return off;
  }
  double least_time_after(std::size_t other) const {
    std::vector<double> times;
    for (std::size_t k = 0; k < rows_.size(); ++k)
      if (const double done = comes(other, k); done > explained_[k] && done <= ends_[k])
        times.push_back(ends_[k] - done);
    if (times.empty()) return 0;
    const auto least = times.begin() + std::ptrdiff_t(kLeastTimes * double(times.size()));
    std::ranges::nth_element(times, least);
    return *least;
  }

  const steps::StepSample& sample_;
  std::size_t rank_;
  double worth_it_;
  std::vector<std::size_t> rows_;
  std::vector<double> explained_, ends_;
  double off_ = 0, transfer_ = 0;
  std::uint64_t looks_ = 1;
  std::vector<Rank> offsets_;
};

}  // namespace

bool GraphSearch::advance(LookBudget& budget) {
  while (!is_done() && !budget.is_spent()) {
    if (found_.size() < sample_.width())
      ask_next_rank(budget);
    else
      ask_next_rank_again(budget);
  }
  return !is_done();
}

void GraphSearch::ask_next_rank(LookBudget& budget) {
  RankFit fit(sample_, found_.size(), kWorthIt);
  std::vector<std::size_t> all(sample_.width());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t count = 0; count < kMostPartners && fit.add_best(all);) ++count;
  found_.push_back({fit.offsets(), fit.off(), fit.known()});
  budget.spend(fit.looks());
  if (found_.size() < sample_.width()) return;
  if (sample_.works_first())
    asked_again_ = found_.size();
  else
    find_common_offsets();
}

void GraphSearch::find_common_offsets() {
  std::map<Rank, std::size_t> ranks_with;
  for (const Found& its : found_)
    for (const Rank offset : its.offsets) ++ranks_with[offset];
  for (const auto& [offset, ranks] : ranks_with)
    if (double(ranks) >= kCommon * double(sample_.width())) common_.push_back(offset);
}

void GraphSearch::ask_next_rank_again(LookBudget& budget) {
  const std::size_t rank = asked_again_++, ranks = sample_.width();
  RankFit fit(sample_, rank, kWorthCommon);
  std::vector<std::size_t> others;
  for (const Rank offset : common_) others.push_back((rank + std::size_t(offset + Rank(ranks))) % ranks);
  for (std::size_t count = 0; count < kMostPartners && fit.add_best(others);) ++count;
  budget.spend(fit.looks());
  Found& found = found_[rank];
  if (fit.off() <= found.off + kRounding) found = {fit.offsets(), fit.off(), fit.known()};
}

Graph GraphSearch::found() const {
  Graph graph;
  std::size_t known = 0, partners = 0;
  for (const Found& its : found_) {
    graph.awaited.push_back(its.offsets);
    graph.off += its.off, known += its.known, partners += its.offsets.size();
  }
  graph.off = partners > 0 ? graph.off / double(known) : std::numeric_limits<double>::infinity();
  return graph;
}

}  // namespace idlewave::analysis::partners
