#include "monitor/analysis/partners/find_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "monitor/analysis/partners/step_waits.h"

namespace idlewave::analysis::partners {
namespace {

/// Of one master.
constexpr std::size_t kFewestWorkers = 3;
/// Of what a rank waits: by so much less may be explained by all of its workers, whose messages take time one after another.
constexpr double kAsWell = 0.01;

/// What a rank waits for, as far as it is known.
EndsFit fit_of(const steps::StepSample& sample, std::size_t rank, double worth_it) {
  EndsFit fit(worth_it, sample.works_first() ? EndsFit::Messages::kTakeNoTime : EndsFit::Messages::kTakeTime);
  for (std::size_t row = 0; row < sample.rows(); ++row) {
    const double post = sample.posts(row)[rank], end = sample.ends(row)[rank];
    if (!std::isnan(post) && !std::isnan(end)) fit.add(row, post, end);
  }
  return fit;
}

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

GraphSearch::Found GraphSearch::ask(std::size_t rank, const std::vector<std::size_t>& others, double worth_it,
                                    LookBudget& budget) const {
  EndsFit fit = fit_of(sample_, rank, worth_it);
  const auto partners = fit.explain(
      others, [this](std::size_t each) { return [this, each](std::size_t row) { return sample_.done(row)[each]; }; });
  budget.spend(fit.looks());
  return found_by(fit, rank, partners);
}

GraphSearch::Found GraphSearch::found_by(const EndsFit& fit, std::size_t rank,
                                         const std::vector<std::size_t>& others) const {
  std::vector<Rank> offsets;
  for (const std::size_t other : others)
    offsets.push_back(shorter_way(std::int64_t(other) - std::int64_t(rank), Rank(sample_.width())));
  std::ranges::sort(offsets);
  return {std::move(offsets), fit.off(), fit.known()};
}

void GraphSearch::ask_for_those_who_wait_for(std::size_t rank, LookBudget& budget) {
  std::vector<std::size_t> others;
  for (std::size_t other = 0; other < found_.size(); ++other) {
    const Rank offset = shorter_way(std::int64_t(rank) - std::int64_t(other), Rank(sample_.width()));
    if (std::ranges::find(found_[other].offsets, offset) != found_[other].offsets.end()) others.push_back(other);
  }
  if (others.size() < kFewestWorkers) return;
  std::vector<double> latest(sample_.rows(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t row = 0; row < latest.size(); ++row)
    for (const std::size_t other : others) latest[row] = std::fmax(latest[row], sample_.done(row)[other]);
  EndsFit fit = fit_of(sample_, rank, EndsFit::kWorthIt);
  const double most = found_[rank].off + kAsWell * fit.off();
  fit.explain(std::vector{&latest},
              [](const auto* posts) { return [posts](std::size_t row) { return (*posts)[row]; }; });
  budget.spend(fit.looks() + latest.size() * others.size());
  if (fit.off() <= most) found_[rank] = found_by(fit, rank, others);
}

void GraphSearch::ask_next_rank(LookBudget& budget) {
  std::vector<std::size_t> others(sample_.width());
  std::iota(others.begin(), others.end(), std::size_t{0});
  others.erase(others.begin() + std::ptrdiff_t(found_.size()));
  found_.push_back(ask(found_.size(), others, EndsFit::kWorthIt, budget));
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
    if (double(ranks) >= EndsFit::kCommon * double(sample_.width())) common_.push_back(offset);
}

void GraphSearch::ask_next_rank_again(LookBudget& budget) {
  const std::size_t rank = asked_again_++, ranks = sample_.width();
  std::vector<std::size_t> others;
  for (const Rank offset : common_) others.push_back((rank + std::size_t(offset + Rank(ranks))) % ranks);
  Found again = ask(rank, others, EndsFit::kWorthCommon, budget);
  if (again.off <= found_[rank].off + kRounding) found_[rank] = std::move(again);
  ask_for_those_who_wait_for(rank, budget);
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
