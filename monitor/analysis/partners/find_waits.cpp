#include "monitor/analysis/partners/find_waits.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "monitor/analysis/partners/ends_fit.h"
#include "monitor/analysis/steps/step_parts.h"

namespace idlewave::analysis::partners {
namespace {

using steps::WaitSample;
using wire::Rank;

/// Fewer are explained by too much.
constexpr std::size_t kFewestRows = 8;

/// Of a wait, what is known of it in the sample.
EndsFit fit_of(const WaitSample& sample, std::size_t rank, std::size_t wait, double worth_it) {
  EndsFit fit(worth_it, EndsFit::Messages::kTakeTime);
  const auto begins = sample.begins(rank, wait), ends = sample.ends(rank, wait);
  for (std::size_t row = 0; row < sample.rows(); ++row)
    if (!std::isnan(begins[row])) fit.add(row, begins[row], ends[row]);
  return fit;
}

}  // namespace

void WaitSearch::begin() {
  for (std::size_t rank = 0; rank < sample_.ranks(); ++rank)
    for (std::size_t wait = 0; wait < sample_.waits(rank); ++wait) {
      Found its{rank, wait, {}, 0, 0};
      const EndsFit nothing = fit_of(sample_, rank, wait, 0);
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
      ask(found_[asked_], all_, EndsFit::kWorthIt, found_[asked_].off, budget);
      if (++asked_ == found_.size()) find_common_ways();
    } else {
      Found& its = found_[asked_again_++];
      ask(its, common_, EndsFit::kWorthCommon, its.off + kRounding, budget);
    }
  }
  return !is_done();
}

std::size_t WaitSearch::at(std::size_t rank, const Way& way) const {
  const Rank ranks = Rank(sample_.ranks());
  return std::size_t((Rank(rank) + way.offset + ranks) % ranks);
}

void WaitSearch::ask(Found& its, const std::vector<Way>& ways, double worth_it, double limit, LookBudget& budget) {
  std::vector<Way> there;
  std::ranges::copy_if(ways, std::back_inserter(there), [&](const Way& way) {
    const std::size_t other = at(its.rank, way);
    return other != its.rank && way.wait <= sample_.waits(other);
  });
  EndsFit fit = fit_of(sample_, its.rank, its.wait, worth_it);
  std::vector<Way> found = fit.explain(there, [&](const Way& way) {
    return [posts = sample_.posts(at(its.rank, way), way.wait, way.later)](std::size_t row) { return posts[row]; };
  });
  budget.spend(fit.looks());
  if (fit.off() <= limit) its.ways = std::move(found), its.off = fit.off();
}

void WaitSearch::find_common_ways() {
  std::map<Way, std::set<std::size_t>> ranks_with;
  for (const Found& its : found_)
    for (const Way& way : its.ways) ranks_with[way].insert(its.rank);
  for (const Way& way : all_)
    if (double(ranks_with[way].size()) >= EndsFit::kCommon * double(sample_.ranks())) common_.push_back(way);
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
