#include "monitor/analysis/partners/find_waits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "monitor/analysis/steps/step_parts.h"

namespace idlewave::analysis::partners {
namespace {

using steps::WaitSample;
using wire::Rank;

constexpr std::size_t kMostPartners = 16;
/// Of the difference that is left: what another partner takes of it, and one that is common.
constexpr double kWorthIt = 0.1, kWorthCommon = 0.05;
/// Of all ranks: so many have partners at a way that is common.
constexpr double kCommon = 0.25;
/// Of the times between a message and the end of the wait for it: nothing takes less than a message takes.
constexpr double kLeastTimes = 0.1;
/// Nanoseconds: times are rounded.
constexpr double kRounding = 4;
/// Fewer are explained by too much.
constexpr std::size_t kFewestRows = 8;

}  // namespace

/// Ends of one wait, as far as they have been explained.
class WaitSearch::Fit {
 public:
  Fit(const WaitSample& sample, const Found& its, double worth_it)
      : sample_(sample), rank_(its.rank), worth_it_(worth_it) {
    const auto begins = sample.begins(its.rank, its.wait), ends = sample.ends(its.rank, its.wait);
    for (std::size_t row = 0; row < sample.rows(); ++row) {
      if (std::isnan(begins[row])) continue;
      rows_.push_back(row), explained_.push_back(begins[row]), ends_.push_back(ends[row]);
      off_ += ends[row] - begins[row];
    }
  }

  /// False where none of these is worth it.
  bool add_best(const std::vector<Way>& ways) {
    const Way* best = nullptr;
    double least = off_;
    for (const Way& way : ways)
      if (const auto posts = posts_of(way); !posts.empty())
        if (const double off = off_with(posts, least); off < least) best = &way, least = off;
    if (!best || least > (1 - worth_it_) * off_ || off_ - least <= kRounding) return false;
    const auto posts = posts_of(*best);
    if (ways_.empty()) transfer_ = least_time_after(posts);
    off_ = 0;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      explained_[k] = std::max(explained_[k], comes(posts, k));
      off_ += std::abs(explained_[k] - ends_[k]);
    }
    ways_.push_back(*best);
    return true;
  }

  double off() const { return off_; }
  std::size_t known() const { return rows_.size(); }
  const std::vector<Way>& ways() const { return ways_; }
  std::uint64_t looks() const { return looks_; }

 private:
  /// Empty: nobody is there, or it does not wait that often.
  std::span<const double> posts_of(const Way& way) const {
    const Rank ranks = Rank(sample_.ranks());
    const auto other = std::size_t((Rank(rank_) + way.offset + ranks) % ranks);
    return other == rank_ || way.wait > sample_.waits(other) ? std::span<const double>{}
                                                             : sample_.posts(other, way.wait, way.later);
  }
  /// Its message.
  double comes(std::span<const double> posts, std::size_t k) const {
    const double post = posts[rows_[k]];
    return std::isnan(post) ? explained_[k] : post + transfer_;
  }
  double off_with(std::span<const double> posts, double least) {
    double off = 0;
    std::size_t k = 0;
    for (; k < rows_.size() && off < least; ++k) off += std::abs(std::max(explained_[k], comes(posts, k)) - ends_[k]);
    looks_ += k + 1;
    return off;
  }
  double least_time_after(std::span<const double> posts) const {
    std::vector<double> times;
    for (std::size_t k = 0; k < rows_.size(); ++k)
      if (const double comes_at = comes(posts, k); comes_at > explained_[k] && comes_at <= ends_[k])
        times.push_back(ends_[k] - comes_at);
    if (times.empty()) return 0;
    const auto least = times.begin() + std::ptrdiff_t(kLeastTimes * double(times.size()));
    std::ranges::nth_element(times, least);
    return *least;
  }

  const WaitSample& sample_;
  std::size_t rank_;
  double worth_it_;
  std::vector<std::size_t> rows_;
  std::vector<double> explained_, ends_;
  double off_ = 0, transfer_ = 0;
  std::uint64_t looks_ = 1;
  std::vector<Way> ways_;
};

void WaitSearch::begin() {
  for (std::size_t rank = 0; rank < sample_.ranks(); ++rank)
    for (std::size_t wait = 0; wait < sample_.waits(rank); ++wait) {
      Found its{rank, wait, {}, 0, 0};
      const Fit nothing(sample_, its, 0);
      its.off = its.waited = nothing.off();
      const bool is_asked =
          nothing.known() >= kFewestRows && its.waited > double(nothing.known()) * double(steps::kShortWait.count());
      if (is_asked) found_.push_back(std::move(its));
    }
  all_ = all_ways();
}

std::vector<WaitSearch::Way> WaitSearch::all_ways() const {
  std::size_t most_waits = 0;
  for (std::size_t rank = 0; rank < sample_.ranks(); ++rank) most_waits = std::max(most_waits, sample_.waits(rank));
  std::vector<Way> ways;
  // The simplest first: of those that explain as much it is taken.
  for (const int later : {0, -1, 1, -2, 2})
    for (std::size_t wait = 0; wait <= most_waits; ++wait)
      for (Rank distance = 1; distance <= Rank(sample_.ranks()) / 2; ++distance)
        for (const Rank offset : {-distance, distance})
          if (offset > 0 || 2 * distance < Rank(sample_.ranks())) ways.push_back({offset, wait, later});
  return ways;
}

bool WaitSearch::advance(LookBudget& budget) {
  while (!is_done() && !budget.is_spent()) {
    if (!sample_.is_read()) {
      sample_.read_next_rank();
      budget.spend(sample_.looks_to_read());
      if (sample_.is_read()) begin();
    } else if (asked_ < found_.size()) {
      ask(found_[asked_], all_, kWorthIt, found_[asked_].off, budget);
      if (++asked_ == found_.size()) find_common_ways();
    } else {
      Found& its = found_[asked_again_++];
      ask(its, common_, kWorthCommon, its.off + kRounding, budget);
    }
  }
  return !is_done();
}

void WaitSearch::ask(Found& its, const std::vector<Way>& ways, double worth_it, double limit, LookBudget& budget) {
  Fit fit(sample_, its, worth_it);
  for (std::size_t count = 0; count < kMostPartners && fit.add_best(ways);) ++count;
  budget.spend(fit.looks());
  if (fit.off() <= limit) its.ways = fit.ways(), its.off = fit.off();
}

void WaitSearch::find_common_ways() {
  std::map<Way, std::set<std::size_t>> ranks_with;
  for (const Found& its : found_)
    for (const Way& way : its.ways) ranks_with[way].insert(its.rank);
  for (const Way& way : all_)
    if (double(ranks_with[way].size()) >= kCommon * double(sample_.ranks())) common_.push_back(way);
}

std::vector<StepWaits> WaitSearch::found() const {
  std::vector<StepWaits> waits(sample_.ranks());
  for (const Found& its : found_) {
    if (its.ways.empty()) continue;
    std::set<Rank> offsets;
    for (const Way& way : its.ways) offsets.insert(way.offset);
    waits[its.rank].emplace_back(offsets.begin(), offsets.end());
  }
  return waits;
}

double WaitSearch::unexplained() const {
  double off = 0, waited = 0;
  for (const Found& its : found_) off += its.off, waited += its.waited;
  return waited > 0 ? off / waited : 1;
}

}  // namespace idlewave::analysis::partners
