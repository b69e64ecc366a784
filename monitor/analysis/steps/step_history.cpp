#include "monitor/analysis/steps/step_history.h"

#include <algorithm>

namespace idlewave::analysis::steps {

using timeline::Lane;
using timeline::LaneState;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

namespace {

constexpr std::size_t kStepsForTypical = 8;  ///< Per rank.
constexpr Rank kRanksForTypical = 256;       ///< A median needs no more.
constexpr Rank kRanksAbout = 64;             ///< The same where many moments are asked for.
/// Of a run, of which the one with most waiting is looked at more closely.
constexpr std::size_t kStretches = 8;
constexpr Nanoseconds kLongestStep = std::chrono::hours(24 * 365);

/// The step that went on at `at`; none before the first.
std::optional<timeline::StepRecord> step_at(const Lane& lane, Nanoseconds at) {
  const std::size_t begun = lane.steps_begun_before(at);
  return begun == 0 ? std::nullopt : std::optional(lane.steps()[begun - 1]);
}

void collect_lengths(const Lane& lane, Nanoseconds at, std::vector<Nanoseconds>& lengths) {
  std::size_t taken = 0;
  const auto steps = lane.steps();
  for (std::size_t k = steps.size(); k-- > 0;) {
    const timeline::StepRecord record = steps[k];
    if (taken == kStepsForTypical) return;
    if (record.end == Nanoseconds{0} || record.end > at) continue;
    lengths.push_back(record.end - record.begin);
    ++taken;
  }
}

void collect_lengths_about(const Lane& lane, Nanoseconds at, std::vector<Nanoseconds>& lengths) {
  const auto steps = lane.steps();
  std::size_t ended = lane.steps_begun_before(at);
  if (ended > 0 && (steps[ended - 1].end == Nanoseconds{0} || steps[ended - 1].end > at)) --ended;
  const std::size_t first = ended - std::min(ended, kStepsForTypical);
  for (std::size_t k = first; k < std::min(steps.size(), first + kStepsForTypical); ++k)
    if (const timeline::StepRecord record = steps[k]; record.end != Nanoseconds{0})
      lengths.push_back(record.end - record.begin);
}

/// Of what `collect` takes of so many ranks, evenly spread.
template <class Collect>
Nanoseconds median_length(const Timeline& timeline, Nanoseconds at, Rank ranks, Collect collect) {
  std::vector<Nanoseconds> lengths;
  const Rank stride = std::max<Rank>(1, timeline.ranks() / ranks);
  for (Rank rank = 0; rank < timeline.ranks(); rank += stride) {
    if (const Lane* lane = timeline.lane(rank)) collect(*lane, at, lengths);
  }
  return std::min(median(std::move(lengths)), kLongestStep);
}

}  // namespace

Nanoseconds median(std::vector<Nanoseconds> values) {
  if (values.empty()) return Nanoseconds{0};
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Nanoseconds typical_step_length(const Timeline& timeline, Nanoseconds at) {
  return median_length(timeline, at, kRanksForTypical, collect_lengths);
}

Nanoseconds step_length_about(const Timeline& timeline, Nanoseconds at) {
  return median_length(timeline, at, kRanksAbout, collect_lengths_about);
}

Nanoseconds least_work(Nanoseconds typical_step) {
  constexpr double kShare = 0.02;
  return Nanoseconds(std::int64_t(kShare * double(typical_step.count())));
}

bool was_silent(const Lane& lane, Nanoseconds at) {
  const bool ended = lane.state() == LaneState::kStopped || lane.state() == LaneState::kLost;
  return ended && lane.last() <= at;
}

Step common_step(const Timeline& timeline, std::span<const Rank> ranks, Nanoseconds at) {
  Step common = wire::kNoStep;
  bool first = true;
  for (const Rank rank : ranks) {
    const Lane* lane = timeline.lane(rank);
    const auto record = lane && !was_silent(*lane, at) ? step_at(*lane, at) : std::nullopt;
    if (!record) continue;
    common = first ? record->step : std::min(common, record->step);
    first = false;
  }
  return common;
}

std::optional<Nanoseconds> begin_spread(const Timeline& timeline, std::span<const Rank> ranks, Step step,
                                        Nanoseconds at) {
  Nanoseconds earliest = Nanoseconds::max(), latest = Nanoseconds::min();
  int found = 0;
  for (const Rank rank : ranks) {
    const Lane* lane = timeline.lane(rank);
    const auto record = lane ? lane->step(step, at) : std::nullopt;
    if (!record) continue;
    earliest = std::min(earliest, record->begin);
    latest = std::max(latest, record->begin);
    ++found;
  }
  if (found < 2) return std::nullopt;
  return latest - earliest;
}

Nanoseconds idle_in_step(const Lane& lane, Nanoseconds at) {
  const auto record = was_silent(lane, at) ? std::nullopt : step_at(lane, at);
  if (!record) return Nanoseconds{0};
  return lane.time_in(timeline::Category::kWait, record->begin, at) +
         lane.time_in(timeline::Category::kDelay, record->begin, at);
}

std::optional<Step> step_of_long_wait(const Lane& lane) {
  const auto steps = lane.steps();
  std::size_t first = lane.steps_begun_before(lane.events_from()), last = steps.size();
  if (last > first && steps[last - 1].end == Nanoseconds{0}) --last;
  if (first >= last) return std::nullopt;
  while (last - first > 1) {
    const std::size_t each = (last - first + kStretches - 1) / kStretches;
    std::size_t longest = first;
    std::int64_t most = -1;
    for (std::size_t begin = first; begin < last; begin += each) {
      const std::size_t end = std::min(begin + each, last);
      const std::int64_t waited = lane.sums_of_steps(steps[begin].begin, steps[end - 1].end).wait;
      if (waited > most) most = waited, longest = begin;
    }
    first = longest, last = std::min(longest + each, last);
  }
  return steps[first].step;
}

Nanoseconds run_end(const Timeline& timeline) {
  Nanoseconds end = timeline.begin();
  for (const Rank rank : heard_ranks(timeline)) end = std::max(end, timeline.lane(rank)->known_until());
  return std::min(end, timeline.now());
}

std::vector<Rank> heard_ranks(const Timeline& timeline) {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (lane && lane->state() != LaneState::kAnnounced) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace idlewave::analysis::steps
