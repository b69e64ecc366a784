#include "monitor/analysis/partners/find_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idlewave::analysis::partners {
namespace {

constexpr std::size_t kMostPartners = 16;
/// Of the difference that is left: what another partner takes of it.
constexpr double kWorthIt = 0.1;
/// Nanoseconds: times are rounded.
constexpr double kRounding = 4;

/// Ends of one rank, as far as they have been explained.
class RankFit {
 public:
  RankFit(const steps::StepSample& sample, std::size_t rank) : sample_(sample), rank_(rank) {
    for (std::size_t row = 0; row < sample.rows(); ++row) {
      const double post = sample.posts(row)[rank], end = sample.ends(row)[rank];
      if (std::isnan(post) || std::isnan(end)) continue;
      rows_.push_back(row), explained_.push_back(post), ends_.push_back(end);
      off_ += std::abs(end - post);
    }
  }

  /// False where nobody is worth it.
  bool add_best() {
    std::size_t best = rank_;
    double least = off_;
    for (std::size_t other = 0; other < sample_.width(); ++other)
      if (const double off = other == rank_ ? off_ : off_with(other, least); off < least) best = other, least = off;
    if (best == rank_ || least > (1 - kWorthIt) * off_ || off_ - least <= kRounding) return false;
    for (std::size_t k = 0; k < rows_.size(); ++k) explained_[k] = std::max(explained_[k], post(best, k));
    off_ = least;
    const auto ranks = Rank(sample_.width());
    const Rank ahead = (Rank(best) - Rank(rank_) + ranks) % ranks;
    offsets_.push_back(ahead > ranks / 2 ? ahead - ranks : ahead);
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
  double post(std::size_t other, std::size_t k) const {
    const double post = sample_.posts(rows_[k])[other];
    return std::isnan(post) ? explained_[k] : post;
  }
  double off_with(std::size_t other, double least) {
    double off = 0;
    std::size_t k = 0;
    for (; k < rows_.size() && off < least; ++k) off += std::abs(std::max(explained_[k], post(other, k)) - ends_[k]);
    looks_ += k;
    return off;
  }

  const steps::StepSample& sample_;
  std::size_t rank_;
  std::vector<std::size_t> rows_;
  std::vector<double> explained_, ends_;
  double off_ = 0;
  std::uint64_t looks_ = 1;
  std::vector<Rank> offsets_;
};

}  // namespace

bool GraphSearch::advance(LookBudget& budget) {
  while (!is_done() && !budget.is_spent()) ask_next_rank(budget);
  return !is_done();
}

void GraphSearch::ask_next_rank(LookBudget& budget) {
  RankFit fit(sample_, awaited_.size());
  for (std::size_t count = 0; count < kMostPartners && fit.add_best(); ++count) ++partners_;
  off_ += fit.off(), known_ += fit.known();
  awaited_.push_back(fit.offsets());
  budget.spend(fit.looks());
}

Graph GraphSearch::found() const {
  return {awaited_, partners_ > 0 ? off_ / double(known_) : std::numeric_limits<double>::infinity()};
}

}  // namespace idlewave::analysis::partners
