#include <algorithm>

#include "monitor/analysis/least_squares.h"
#include "monitor/analysis/step_history.h"
#include "monitor/analysis/waves.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::Timeline;
using wire::Step;

/// A domain whose ranks begin a step within this share of its length begins it together.
constexpr double kTogether = 0.1;

double slope_of(const Timeline& timeline, std::span<const Rank> ranks, Step step, Nanoseconds at,
                Nanoseconds typical_step) {
  std::vector<double> seconds, rank_numbers;
  for (const Rank rank : ranks) {
    const Lane* lane = timeline.lane(rank);
    const auto record = lane ? lane->step(step, at) : std::nullopt;
    if (!record) continue;
    seconds.push_back(double(record->begin.count()) * 1e-9);
    rank_numbers.push_back(double(rank));
  }
  // Time over rank is fitted, not rank over time: the begin is what varies, and a vertical front must not become
  // infinitely fast by chance.
  const double seconds_per_rank = slope(rank_numbers, seconds);
  const double across = std::abs(seconds_per_rank) * double(seconds.size());
  return across > kTogether * double(typical_step.count()) * 1e-9 ? 1 / seconds_per_rank : 0;
}

}  // namespace

std::optional<Wavefront> find_wavefront(const Timeline& timeline, Window window) {
  const std::vector<Rank> ranks = heard_ranks(timeline);
  const Step step = common_step(timeline, ranks, window.to);
  const auto spread = step == wire::kNoStep ? std::nullopt : begin_spread(timeline, ranks, step, window.to);
  if (!spread) return std::nullopt;
  Wavefront front{step, *spread, {}};
  const Nanoseconds typical = typical_step_length(timeline);
  for (const timeline::Domain& domain : timeline.domains())
    front.slopes_ranks_per_s.push_back(slope_of(timeline, domain.ranks, step, window.to, typical));
  return front;
}

}  // namespace idlewave::analysis
