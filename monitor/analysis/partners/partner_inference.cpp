#include "monitor/analysis/partners/partner_inference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace idlewave::analysis::partners {
namespace {

using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;

/// Of a step: how much earlier than the latest post of all a step may seem to end that waits for it.
constexpr double kTolerance = 0.02;
/// Of a step: who posts so much before another sees it late.
constexpr double kLate = 0.25;
/// Fewer are explained by too much.
constexpr std::size_t kFewestSteps = 8;
/// Of fewer ranks the neighbours' neighbours may be everybody.
constexpr std::size_t kFewestTogether = 8;
/// Of the steps in which somebody was late.
constexpr double kCollective = 0.9;
/// Offsets that are said of collectives.
constexpr Rank kFarthest = 12;
/// Partners of its own for each rank have to explain so much more.
constexpr double kWorthGraph = 0.3;

struct Togetherness {
  bool somebody_is_late = false;
  bool all_end_together = false;
};

Togetherness look_at(const steps::StepSample& sample, std::size_t row, double usual_step) {
  double latest = std::numeric_limits<double>::lowest(), first_end = std::numeric_limits<double>::max();
  for (const double post : sample.posts(row))
    if (!std::isnan(post)) latest = std::max(latest, post);
  std::size_t known = 0, early = 0;
  for (std::size_t i = 0; i < sample.width(); ++i) {
    if (std::isnan(sample.ends(row)[i])) continue;
    first_end = std::min(first_end, sample.ends(row)[i]);
    ++known, early += sample.posts(row)[i] < latest - kLate * usual_step;
  }
  const bool is_late = 2 * early > known;
  return {is_late, is_late && known >= kFewestTogether && first_end >= latest - kTolerance * usual_step};
}

/// Takes out the steps that all ranks end together, right after the latest post: they tell nothing of neighbours where
/// others do. True if there are hardly any others in which somebody was late.
bool take_out_collectives(steps::StepSample& sample, double usual_step) {
  std::vector<Togetherness> rows;
  for (std::size_t row = 0; row < sample.rows(); ++row) rows.push_back(look_at(sample, row, usual_step));
  const auto late = std::ranges::count(rows, true, &Togetherness::somebody_is_late);
  const auto together = std::ranges::count(rows, true, &Togetherness::all_end_together);
  if (late > 0 && double(together) > kCollective * double(late)) return true;
  sample.erase_rows_if([&](std::size_t row) { return rows[row].all_end_together; });
  return false;
}

Partners of_all(Rank ranks) {
  Partners partners{.offsets = {}, .ring = true, .collective = true};
  const Rank farthest = std::min(kFarthest, ranks / 2);
  for (Rank offset = -farthest; offset <= farthest; ++offset)
    if (offset != 0) partners.offsets.push_back(offset);
  return partners;
}

std::set<Rank> stage_offsets(const Exchange& exchange, std::span<const Rank> distances) {
  std::set<Rank> offsets;
  for (const Rank distance : distances) {
    offsets.insert(-distance);
    if (exchange.rendezvous) offsets.insert(distance);
  }
  return offsets;
}

/// With split waits whom one's partners have waited for before is waited for as well. By offset: over how many messages.
Partners of_exchange(const Exchange& exchange, Rank ranks) {
  std::map<Rank, int> all{{0, 0}};
  const std::size_t together = exchange.split ? 1 : exchange.distances.size();
  for (std::size_t i = 0; i < exchange.distances.size(); i += together) {
    const std::map<Rank, int> before = all;
    if (exchange.rendezvous)
      for (auto& [offset, messages] : all) ++messages;
    for (const Rank offset : stage_offsets(exchange, std::span(exchange.distances).subspan(i, together)))
      for (const auto& [further, messages] : before) {
        int& most = all[offset + further];
        most = std::max(most, messages + 1);
      }
  }
  std::map<Rank, int> offsets;
  for (const auto& [offset, messages] : all) {
    if (!exchange.ring && std::abs(offset) >= ranks) continue;
    int& most = offsets[offset % ranks];
    most = std::max(most, messages);
  }
  Partners partners{.offsets = {}, .ring = exchange.ring, .own_messages = offsets[0]};
  offsets.erase(0);
  for (const Rank distance : exchange.distances) partners.farthest = std::max(partners.farthest, std::abs(distance));
  for (const auto& [offset, messages] : offsets)
    partners.offsets.push_back(offset), partners.messages.push_back(std::uint8_t(std::min(messages, 255)));
  return partners;
}

StepWaits waits_of(const Exchange& exchange, Rank rank, Rank ranks) {
  StepWaits waits;
  const std::size_t together = exchange.split ? 1 : exchange.distances.size();
  for (std::size_t i = 0; i < exchange.distances.size(); i += together) {
    auto& wait = waits.emplace_back();
    for (const Rank offset : stage_offsets(exchange, std::span(exchange.distances).subspan(i, together)))
      if (const Rank other = steps::rank_at(rank, offset, ranks, exchange.ring); other >= 0)
        wait.push_back(other - rank);
  }
  return waits;
}

}  // namespace

PartnerInference::PartnerInference(const Timeline& timeline, std::span<const steps::LateMoment> moments,
                                   Nanoseconds usual_step)
    : ranks_(timeline.ranks()) {
  steps::StepSample sample = steps::StepSample::about(timeline, moments);
  if (sample.rows() < kFewestSteps || ranks_ < 2) return;
  collective_ = take_out_collectives(sample, double(usual_step.count()));
  if (collective_ || sample.rows() == 0) return;
  exchange_.emplace(std::move(sample));
  doing_ = Doing::kFitsRules;
}

bool PartnerInference::advance(LookBudget& budget) {
  while (doing_ != Doing::kIsDone && !budget.is_spent()) {
    if (doing_ == Doing::kFitsRules && !exchange_->advance(budget)) begin_graph();
    if (doing_ == Doing::kAsksEachRank && !graph_->advance(budget)) end_graph();
  }
  return doing_ != Doing::kIsDone;
}

void PartnerInference::begin_graph() {
  const Exchange& exchange = exchange_->found();
  const steps::StepSample& sample = exchange_->sample();
  off_ = exchange.certain ? ExchangeFit(sample).off_by(exchange) : std::numeric_limits<double>::infinity();
  doing_ = Doing::kIsDone;
  if (off_ <= kRounding || !sample.has_all_ranks()) return;
  graph_.emplace(sample);
  doing_ = Doing::kAsksEachRank;
}

void PartnerInference::end_graph() {
  if (Graph graph = graph_->found(); graph.off < kWorthGraph * off_) of_each_ = std::move(graph);
  doing_ = Doing::kIsDone;
}

const Exchange* PartnerInference::found_exchange() const {
  return exchange_ && !of_each_ && exchange_->found().certain ? &exchange_->found() : nullptr;
}

Partners PartnerInference::partners() const {
  if (collective_) return of_all(ranks_);
  if (of_each_) {
    auto of_ranks = RankPartners::of(of_each_->awaited);
    return {.offsets = of_ranks->offsets(), .ring = of_ranks->is_ring(), .of_ranks = std::move(of_ranks)};
  }
  const Exchange* exchange = found_exchange();
  return exchange ? of_exchange(*exchange, ranks_) : Partners{};
}

std::vector<StepWaits> PartnerInference::waits() const {
  const Exchange* exchange = found_exchange();
  std::vector<StepWaits> waits(static_cast<std::size_t>(ranks_));
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    if (of_each_) waits[rank] = {of_each_->awaited[rank]};
    if (exchange) waits[rank] = waits_of(*exchange, Rank(rank), ranks_);
  }
  return waits;
}

}  // namespace idlewave::analysis::partners
