#include "monitor/analysis/partners/partner_inference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "monitor/analysis/steps/step_history.h"

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
/// Of all waiting: what may be left of it by what ranks do behind their waits.
constexpr double kWorthTurns = 0.1;
/// The same by what they do in whole steps: where more is left, waits are asked one by one. What these tell is believed if it leaves
/// less than that, and less than this share of what whole steps left.
constexpr double kWorthWaits = 0.1, kLessByWaits = 0.3;

struct Togetherness {
  bool somebody_is_late = false;
  bool all_end_together = false;
  double waited = 0, waited_after_all = 0;  ///< By all ranks; and of that since the latest of all had posted.
};

Togetherness look_at(const steps::StepSample& sample, std::size_t row, double usual_step) {
  double latest = std::numeric_limits<double>::lowest(), first_end = std::numeric_limits<double>::max();
  for (const double post : sample.posts(row))
    if (!std::isnan(post)) latest = std::max(latest, post);
  std::size_t known = 0, early = 0;
  Togetherness found;
  for (std::size_t i = 0; i < sample.width(); ++i) {
    const double post = sample.posts(row)[i], end = sample.ends(row)[i];
    if (std::isnan(end)) continue;
    first_end = std::min(first_end, end);
    ++known, early += post < latest - kLate * usual_step;
    found.waited += end - post, found.waited_after_all += std::max(0.0, end - latest);
  }
  found.somebody_is_late = 2 * early > known;
  found.all_end_together =
      found.somebody_is_late && known >= kFewestTogether && first_end >= latest - kTolerance * usual_step;
  return found;
}

/// Takes out the steps that all ranks end together, right after the latest post: they tell nothing of neighbours where
/// others do. If there are hardly any others in which somebody was late: which share of the waiting came after that post, and is
/// not explained by it.
std::optional<double> take_out_collectives(steps::StepSample& sample, double usual_step) {
  std::vector<Togetherness> rows;
  for (std::size_t row = 0; row < sample.rows(); ++row) rows.push_back(look_at(sample, row, usual_step));
  const auto late = std::ranges::count(rows, true, &Togetherness::somebody_is_late);
  const auto together = std::ranges::count(rows, true, &Togetherness::all_end_together);
  if (late > 0 && double(together) > kCollective * double(late)) {
    double waited = 0, after_all = 0;
    for (const Togetherness& row : rows)
      if (row.all_end_together) waited += row.waited, after_all += row.waited_after_all;
    return after_all / waited;
  }
  sample.erase_rows_if([&](std::size_t row) { return rows[row].all_end_together; });
  return std::nullopt;
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

/// Of one that has one wait.
std::vector<std::vector<Rank>> awaited_in(const Exchange& exchange, Rank ranks) {
  std::vector<std::vector<Rank>> awaited;
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto& its = awaited.emplace_back(waits_of(exchange, rank, ranks).front());
    for (Rank& offset : its) offset = shorter_way(offset, ranks);
  }
  return awaited;
}

double mean_wait(const steps::StepSample& sample) {
  double sum = 0;
  std::size_t known = 0;
  for (std::size_t row = 0; row < sample.rows(); ++row)
    for (std::size_t i = 0; i < sample.width(); ++i)
      if (const double wait = sample.ends(row)[i] - sample.posts(row)[i]; !std::isnan(wait)) sum += wait, ++known;
  return known > 0 ? sum / double(known) : 0;
}

}  // namespace

PartnerInference::PartnerInference(const Timeline& timeline, std::span<const steps::LateMoment> moments,
                                   Nanoseconds usual_step)
    : ranks_(timeline.ranks()) {
  steps::StepSample sample = steps::StepSample::about(timeline, moments);
  if (sample.rows() < kFewestSteps || ranks_ < 2) return;
  left_by_latest_ = take_out_collectives(sample, double(usual_step.count()));
  if (!left_by_latest_ && sample.rows() > 0) steps_ = std::make_unique<SampleSearch>(std::move(sample));
  const Rank width = std::min(ranks_, steps::kMostRanks);
  std::vector<steps::StepOfSome> rows = steps::steps_about(timeline, moments, width);
  steps::add_steps_of_run(timeline, width, rows);
  if (auto turns = steps::StepSample::by_turns(timeline, rows))
    turns_ = std::make_unique<SampleSearch>(std::move(*turns));
  if (ranks_ == width)
    rows = steps::rows_to_look_at(timeline, rows);
  else
    rows.clear();
  if (rows.size() < kFewestSteps) return;
  const Nanoseconds tolerance = steps::least_work(steps::typical_step_length(timeline));
  waits_ = std::make_unique<WaitSearch>(steps::WaitSample(timeline, std::move(rows), tolerance));
}

bool PartnerInference::advance(LookBudget& budget) {
  if (turns_ && !are_by_turns_) {
    if (turns_->advance(budget)) return true;
    are_by_turns_ = turns_->off() < kWorthTurns * mean_wait(turns_->sample());
    if (!are_by_turns_) turns_.reset();
  }
  if (are_by_turns_) return false;
  if (steps_ && steps_->advance(budget)) return true;
  if (!waits_ || by_waits_) return false;
  if (unexplained() > kWorthWaits && waits_->advance(budget)) return true;
  take_waits();
  return false;
}

double PartnerInference::unexplained() const {
  if (left_by_latest_) return *left_by_latest_;
  const double waited = steps_ ? mean_wait(steps_->sample()) : 0;
  return waited > 0 ? steps_->off() / waited : 1;
}

void PartnerInference::take_waits() {
  const double by_steps = unexplained();
  if (by_steps > kWorthWaits && waits_->unexplained() < std::min(kWorthWaits, kLessByWaits * by_steps))
    by_waits_ = RankPartners::of_waits(waits_->found());
  if (!by_waits_) waits_.reset();
}

const SampleSearch* PartnerInference::found() const {
  const SampleSearch* found = are_by_turns_ ? turns_.get() : steps_.get();
  return found && (found->graph() || found->exchange()) ? found : nullptr;
}

Partners PartnerInference::partners() const {
  if (by_waits_) return {.offsets = by_waits_->offsets(), .ring = by_waits_->is_ring(), .of_ranks = by_waits_};
  if (left_by_latest_ && !are_by_turns_) return of_all(ranks_);
  const SampleSearch* search = found();
  if (!search) return {};
  if (!are_by_turns_ && search->exchange()) return of_exchange(*search->exchange(), ranks_);
  auto of_ranks =
      RankPartners::of(search->graph() ? search->graph()->awaited : awaited_in(*search->exchange(), ranks_));
  return {.offsets = of_ranks->offsets(), .ring = of_ranks->is_ring(), .of_ranks = std::move(of_ranks)};
}

std::vector<StepWaits> PartnerInference::waits() const {
  std::vector<StepWaits> waits(static_cast<std::size_t>(ranks_));
  if (by_waits_) return waits_->found();
  const SampleSearch* search = found();
  for (std::size_t rank = 0; search && rank < waits.size(); ++rank) {
    if (search->graph()) waits[rank] = {search->graph()->awaited[rank]};
    if (search->exchange()) waits[rank] = waits_of(*search->exchange(), Rank(rank), ranks_);
  }
  return waits;
}

}  // namespace idlewave::analysis::partners
