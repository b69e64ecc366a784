#include "monitor/analysis/session/step_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "monitor/analysis/plural.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::session {
namespace {

using timeline::Lane;
using timeline::Timeline;

/// In double, as a few long steps of many ranks are more nanoseconds than 64 bits hold.
struct Sums {
  std::int64_t steps = 0;
  double whole = 0, compute = 0, wait = 0, delay = 0;
  double there = 0;  ///< In steps or not.

  void add(const timeline::StepSums& of_rank) {
    steps += of_rank.steps;
    whole += double(of_rank.whole);
    compute += double(of_rank.compute);
    wait += double(of_rank.wait);
    delay += double(of_rank.delay);
  }
  Nanoseconds mean(double sum) const { return Nanoseconds(std::llround(sum / double(steps))); }
};

Nanoseconds time_there(const Lane& lane, Window window) {
  if (lane.events() == 0) return {};
  return std::max(Nanoseconds{0}, std::min(lane.known_until(), window.to) - std::max(lane.first(), window.from));
}

}  // namespace

StepTimes step_times(const Timeline& timeline, Window window) {
  Sums sums;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (lane == nullptr) continue;
    sums.add(lane->sums_of_steps(window.from, window.to));
    sums.there += double(time_there(*lane, window).count());
  }
  StepTimes times;
  times.steps = sums.steps;
  if (sums.steps == 0) return times;
  times.mean = sums.mean(sums.whole);
  times.compute_mean = sums.mean(sums.compute);
  times.wait_mean = sums.mean(sums.wait);
  times.delay_mean = sums.mean(sums.delay);
  times.time_share = sums.there > 0 ? std::min(1.0, sums.whole / sums.there) : 0;
  return times;
}

bool has_unknown_steps(const Timeline& timeline, Window window) {
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (lane == nullptr || !lane->has_forgotten_steps()) continue;
    const timeline::StepRecords kept = lane->steps();
    if (kept.empty() || kept[0].begin > window.from) return true;
  }
  return false;
}

Skew skew(const Timeline& timeline, Nanoseconds at) {
  const std::vector<Rank> ranks = steps::heard_ranks(timeline);
  const wire::Step common = steps::common_step(timeline, ranks, at);
  if (common == wire::kNoStep) return {};
  return {common, steps::begin_spread(timeline, ranks, common, at).value_or(Nanoseconds{0})};
}

std::string step_sources_in_words(const timeline::Timeline& timeline) {
  const auto& sources = timeline.step_sources();
  if (sources.empty() || timeline.latest_step() == wire::kNoStep) return {};
  std::string words;
  for (const auto& [source, ranks] : sources) {
    words += (words.empty() ? "steps " : ", ") + std::string(name_of(source));
    if (sources.size() > 1) words += fmt::format(" ({})", plural(std::uint64_t(ranks), "rank"));
  }
  return words;
}

}  // namespace idlewave::analysis::session
