#include "monitor/analysis/activity.h"

#include <algorithm>

#include "monitor/analysis/concurrency.h"
#include "monitor/analysis/step_history.h"

namespace idlewave::analysis {
namespace {

using timeline::Category;
using timeline::Lane;
using timeline::Timeline;

constexpr double kNanosPerSecond = 1e9;
constexpr Nanoseconds kShortestNow = std::chrono::milliseconds(100);
constexpr Nanoseconds kBandwidthNow = std::chrono::seconds(1);
Window cut_to_known(const Timeline& timeline, std::span<const Rank> ranks, Window window) {
  Nanoseconds first = timeline.now(), last = timeline.begin();
  for (const Rank rank : ranks) {
    const Lane* lane = timeline.lane(rank);
    if (!lane || lane->state() == timeline::LaneState::kAnnounced) continue;
    first = std::min(first, lane->first());
    last = std::max(last, lane->known_until());
  }
  return {std::max({window.from, timeline.begin(), first}), std::min({window.to, timeline.now(), last})};
}

/// Part of a sample's bytes that were moved in `part` of its time: as its ranks were at work then. Where they tell nothing
/// of that, evenly. By what was known at `at`.
double share_of(const Timeline& timeline, const timeline::Domain& domain, Window sample, Window part, Nanoseconds at) {
  const Concurrency concurrency(work_in(timeline, domain.ranks, sample, at), bandwidth_of(domain.info));
  const double volume = concurrency.within(sample).volume;
  return volume > 0 ? concurrency.within(part).volume / volume
                    : double(part.length().count()) / double(sample.length().count());
}

std::optional<double> bandwidth_over(const Timeline& timeline, int index, Window window, Nanoseconds at) {
  const timeline::Domain& domain = timeline.domains()[std::size_t(index)];
  double bytes = 0;
  Nanoseconds covered{};
  const auto samples = timeline.samples(index);
  for (std::size_t k = samples.size(); k-- > 0;) {
    const timeline::Sample each = samples[k];
    if (each.end <= window.from) break;
    const Window sample{each.begin, each.end};
    const Window part{std::max(sample.from, window.from), std::min(sample.to, window.to)};
    if (part.length() <= Nanoseconds{0}) continue;
    const bool is_whole = part.length() == sample.length();
    bytes += double(each.bytes) * (is_whole ? 1 : share_of(timeline, domain, sample, part, at));
    covered += part.length();
  }
  if (covered <= Nanoseconds{0}) return std::nullopt;
  return bytes / (double(covered.count()) / kNanosPerSecond);
}

/// What has been sampled before that: of what came since is not known yet how much it was, nor, for everybody who looks at
/// this moment, of a sample that ends with it.
Nanoseconds sampled_until(const Timeline& timeline, int domain, Nanoseconds at) {
  const auto samples = timeline.samples(domain);
  const auto after = std::ranges::lower_bound(samples, at, {}, &timeline::Sample::end);
  return after == samples.begin() ? Nanoseconds{0} : (*(after - 1)).end;
}

int silent_members(const Timeline& timeline, std::span<const Rank> ranks, Nanoseconds at) {
  return int(std::count_if(ranks.begin(), ranks.end(), [&](Rank rank) {
    const Lane* lane = timeline.lane(rank);
    return !lane || was_silent(*lane, at);
  }));
}

void take_state(DomainActivity& activity, const StateChange& change) {
  activity.state = change.state;
  activity.state_since = change.at;
  activity.straggler = change.straggler;
}

DomainActivity activity_of(const Timeline& timeline, int index, Window window, Nanoseconds typical_step) {
  const timeline::Domain& domain = timeline.domains()[std::size_t(index)];
  DomainActivity activity;
  activity.domain = index;
  activity.ranks = int(domain.ranks.size());
  activity.silent = silent_members(timeline, domain.ranks, window.to);
  const Nanoseconds now_length = std::max(kShortestNow, 2 * typical_step);
  const Window now{window.to - now_length, window.to};
  activity.active_now = mean_active(timeline, domain.ranks, now);
  activity.active_mean = mean_active(timeline, domain.ranks, window);
  activity.threads_now = thread_use(timeline, domain.ranks, now);
  activity.threads_mean = thread_use(timeline, domain.ranks, window);
  activity.is_known = cut_to_known(timeline, domain.ranks, window).length() > Nanoseconds{0};
  const auto& info = domain.info;
  activity.saturation_point = saturation_point(info);
  activity.saturated_bandwidth = info.saturated_bandwidth;
  activity.source = info.source;
  activity.note = info.note;
  if (info.source != wire::BandwidthSource::kNone) {
    activity.bandwidth = bandwidth_over(
        timeline, index, {window.to - kBandwidthNow, std::min(window.to, sampled_until(timeline, index, window.to))},
        window.to);
    activity.bandwidth_mean = bandwidth_over(timeline, index, window, Nanoseconds::max());
  }
  return activity;
}

}  // namespace

double mean_active(const Timeline& timeline, std::span<const Rank> ranks, Window window) {
  const Window known = cut_to_known(timeline, ranks, window);
  if (known.length() <= Nanoseconds{0}) return 0;
  double computing = 0;
  for (const Rank rank : ranks) {
    if (const Lane* lane = timeline.lane(rank))
      computing += double(lane->time_in(Category::kCompute, known.from, known.to).count());
  }
  return computing / double(known.length().count());
}

std::vector<DomainActivity> domain_activity(const Timeline& timeline, Window window, const DomainStates* states) {
  const Nanoseconds step = typical_step_length(timeline, window.to);
  std::vector<DomainActivity> result;
  for (int index = 0; index < int(timeline.domains().size()); ++index) {
    result.push_back(activity_of(timeline, index, window, step));
    const StateChange* change = states ? states->at(index, window.to) : nullptr;
    if (change) take_state(result.back(), *change);
  }
  return result;
}

}  // namespace idlewave::analysis
