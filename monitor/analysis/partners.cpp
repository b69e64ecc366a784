#include "monitor/analysis/partners.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "monitor/analysis/exchange.h"
#include "monitor/analysis/find_graph.h"

namespace idlewave::analysis {
namespace {

using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;

/// Of a step: how much earlier than the latest post of all a step may seem to end that waits for it.
constexpr double kTolerance = 0.02;
/// Of a step: who posts so much before another sees it late.
constexpr double kLate = 0.25;
/// Of fewer ranks the neighbours' neighbours may be everybody.
constexpr std::size_t kFewestTogether = 8;
/// Of the steps in which somebody was late.
constexpr double kCollective = 0.9;
/// Offsets that are said of collectives.
constexpr Rank kFarthest = 12;
/// Partners of its own for each rank have to explain so much more.
constexpr double kWorthGraph = 0.3;
/// Nanoseconds: times are rounded.
constexpr double kRounding = 4;

struct Togetherness {
  bool somebody_is_late = false;
  bool all_end_together = false;
};

Togetherness look_at(const StepSample& sample, std::size_t row, double usual_step) {
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
bool take_out_collectives(StepSample& sample, double usual_step) {
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

/// With split waits whom one's partners have waited for before is waited for as well.
Partners of_exchange(const Exchange& exchange, Rank ranks) {
  std::set<Rank> all;
  if (!exchange.split) all = stage_offsets(exchange, exchange.distances);
  for (std::size_t i = 0; exchange.split && i < exchange.distances.size(); ++i) {
    const std::set<Rank> before = all;
    for (const Rank offset : stage_offsets(exchange, {&exchange.distances[i], 1})) {
      all.insert(offset);
      for (const Rank further : before) all.insert(offset + further);
    }
  }
  if (exchange.ring) std::erase_if(all, [&](Rank offset) { return offset % ranks == 0; });
  all.erase(0);
  return {.offsets = {all.begin(), all.end()}, .ring = exchange.ring};
}

/// Of one of these, or of none.
struct Found {
  bool collective = false;
  std::optional<Exchange> exchange;
  std::optional<Graph> graph;
};

Found find(const Timeline& timeline, std::span<const LateMoment> moments, Nanoseconds usual_step) {
  StepSample sample = StepSample::about(timeline, moments);
  if (sample.rows() == 0 || timeline.ranks() < 2) return {};
  if (take_out_collectives(sample, double(usual_step.count())))
    return {.collective = true, .exchange = {}, .graph = {}};
  if (sample.rows() == 0) return {};
  Exchange exchange = find_exchange(sample);
  const double off = exchange.certain ? mean_difference(sample, exchange) : std::numeric_limits<double>::infinity();
  Found found;
  if (off > kRounding && sample.has_all_ranks())
    if (Graph graph = find_graph(sample); graph.off < kWorthGraph * off) found.graph = std::move(graph);
  if (!found.graph && exchange.certain) found.exchange = std::move(exchange);
  return found;
}

StepWaits waits_of(const Exchange& exchange, Rank rank, Rank ranks) {
  StepWaits waits;
  const std::size_t together = exchange.split ? 1 : exchange.distances.size();
  for (std::size_t i = 0; i < exchange.distances.size(); i += together) {
    auto& wait = waits.emplace_back();
    for (const Rank offset : stage_offsets(exchange, std::span(exchange.distances).subspan(i, together)))
      if (const Rank other = rank_at(rank, offset, ranks, exchange.ring); other >= 0) wait.push_back(other - rank);
  }
  return waits;
}

}  // namespace

Partners infer_partners(const Timeline& timeline, std::span<const LateMoment> moments, Nanoseconds usual_step) {
  const Found found = find(timeline, moments, usual_step);
  if (found.collective) return of_all(timeline.ranks());
  if (found.graph) {
    auto of_ranks = RankPartners::of(found.graph->awaited);
    return {.offsets = of_ranks->offsets(), .ring = of_ranks->is_ring(), .of_ranks = std::move(of_ranks)};
  }
  return found.exchange ? of_exchange(*found.exchange, timeline.ranks()) : Partners{};
}

std::vector<StepWaits> infer_waits(const Timeline& timeline, std::span<const LateMoment> moments,
                                   Nanoseconds usual_step) {
  const Found found = find(timeline, moments, usual_step);
  std::vector<StepWaits> waits(std::size_t(timeline.ranks()));
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    if (found.graph) waits[rank] = {found.graph->awaited[rank]};
    if (found.exchange) waits[rank] = waits_of(*found.exchange, Rank(rank), timeline.ranks());
  }
  return waits;
}

}  // namespace idlewave::analysis
