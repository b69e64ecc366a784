#include "monitor/analysis/steps/sampled_steps.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::steps {
namespace {

using timeline::Lane;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

constexpr std::size_t kMostMoments = 8;
/// Of ranks about a late one, where there are more.
constexpr std::size_t kMostSteps = 64;
constexpr std::size_t kStepsBefore = 16;
/// A front that reaches one rank a step, and some more.
constexpr std::size_t kStepsBeyond = 12;

}  // namespace

std::size_t most_rows(std::size_t looked, std::size_t width) {
  return std::max(kFewestRows, looked / std::max<std::size_t>(width, 1));
}

std::vector<StepOfSome> steps_about(const Timeline& timeline, std::span<const LateMoment> moments, Rank width) {
  const Rank ranks = timeline.ranks();
  const bool all = width == ranks;
  std::vector<StepOfSome> found;
  std::set<std::pair<Rank, Nanoseconds>> taken;
  for (const LateMoment& moment : moments.last(std::min(kMostMoments, moments.size()))) {
    const Lane* lane = timeline.lane(moment.rank);
    const Rank first = all ? 0 : (moment.rank - width / 2 + ranks) % ranks;
    const auto record = lane ? lane->step(moment.step, moment.at) : std::nullopt;
    if (!record) continue;
    const std::size_t here = lane->steps_begun_before(record->begin + Nanoseconds{1}) - 1;
    const std::size_t after = all ? std::size_t(ranks) + kStepsBeyond : kMostSteps;
    const std::size_t end = std::min(lane->steps().size(), here + after);
    for (std::size_t k = here - std::min(here, kStepsBefore); k < end; ++k) {
      const timeline::StepRecord step = lane->steps()[k];
      const auto key = std::pair(first, all ? Nanoseconds(step.step) : step.begin);
      if (taken.insert(key).second) found.push_back({first, step.step, moment.at});
    }
  }
  return found;
}

void add_steps_of_run(const Timeline& timeline, Rank width, std::vector<StepOfSome>& rows) {
  if (rows.empty()) return;
  const StepOfSome latest = rows.back();
  std::set<Step> taken;
  for (const StepOfSome& row : rows) taken.insert(row.step);
  const auto add = [&](Step step) {
    if (taken.insert(step).second) rows.push_back({latest.first, step, latest.at});
  };
  bool has_all_over = false;
  for (Rank i = 0; i < width; ++i) {
    const Lane* lane = timeline.lane((latest.first + i) % timeline.ranks());  // Null: it has yet to be announced.
    if (!lane || lane->steps().empty()) continue;
    if (!std::exchange(has_all_over, true)) {
      const auto steps = lane->steps();
      const std::size_t most = std::min(steps.size(), most_rows(kMostLookedLive, std::size_t(width)));
      for (std::size_t k = 0; k < most; ++k) add(steps[k * steps.size() / most].step);
    }
    if (const auto step = step_of_long_wait(*lane)) add(*step);
  }
}

std::vector<std::size_t> rows_to_keep(const std::vector<double>& spreads, std::size_t most) {
  std::vector<std::size_t> rows(spreads.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (rows.size() <= most) return rows;
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) { return spreads[a] > spreads[b]; });
  std::vector<std::size_t> taken(rows.begin(), rows.begin() + std::ptrdiff_t(most / 2));
  const std::size_t rest = rows.size() - most / 2;
  for (std::size_t i = 0; i < most / 2; ++i) taken.push_back(rows[most / 2 + i * rest / (most / 2)]);
  std::ranges::sort(taken);
  return taken;
}

}  // namespace idlewave::analysis::steps
