#include "monitor/analysis/domains/activity.h"

#include <algorithm>

#include "monitor/analysis/domains/concurrency.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::domains {
namespace {

using timeline::Category;
using timeline::Lane;
using timeline::Timeline;

constexpr double kNanosPerSecond = 1e9;
constexpr Nanoseconds kShortestNow = std::chrono::milliseconds(100);
/// Of which figures of now are told.
constexpr Nanoseconds kLatest = std::chrono::seconds(1);
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

double share_of_time(Window sample, Window part) {
  return double(part.length().count()) / double(sample.length().count());
}

/// Part of a sample's bytes that were moved in `part` of its time: as its ranks were at work then. Where they tell nothing
/// of that, evenly. By what was known at `at`.
double share_of(const Timeline& timeline, const timeline::Domain& domain, Window sample, Window part, Nanoseconds at) {
  const Concurrency concurrency(work_in(timeline, domain.ranks, sample, at), bandwidth_of(domain.info));
  const double volume = concurrency.within(sample).volume;
  return volume > 0 ? concurrency.within(part).volume / volume : share_of_time(sample, part);
}

/// What was counted in a window, and how much of it is known.
struct Counted {
  double amount = 0;
  Nanoseconds covered{};

  std::optional<double> per_second() const {
    if (covered <= Nanoseconds{0}) return std::nullopt;
    return amount / (double(covered.count()) / kNanosPerSecond);
  }
};

/// share(sample, part): of a sample's amount, what belongs to a part of its time.
template <class Samples, class Share>
Counted counted_in(const Samples& samples, Window window, Share share) {
  Counted counted;
  for (std::size_t k = samples.size(); k-- > 0;) {
    const timeline::Sample each = samples[k];
    if (each.end <= window.from) break;
    const Window sample{each.begin, each.end};
    const Window part{std::max(sample.from, window.from), std::min(sample.to, window.to)};
    if (part.length() <= Nanoseconds{0}) continue;
    const bool is_whole = part.length() == sample.length();
    counted.amount += double(each.amount) * (is_whole ? 1 : share(sample, part));
    counted.covered += part.length();
  }
  return counted;
}

std::optional<double> bandwidth_over(const Timeline& timeline, int index, Window window, Nanoseconds at) {
  const timeline::Domain& domain = timeline.domains()[std::size_t(index)];
  const auto share = [&](Window sample, Window part) { return share_of(timeline, domain, sample, part, at); };
  return counted_in(timeline.samples(index), window, share).per_second();
}

/// What has been sampled before that: of what came since is not known yet how much it was, nor, for everybody who looks at
/// this moment, of a sample that ends with it.
template <class Samples>
Nanoseconds sampled_until(const Samples& samples, Nanoseconds at) {
  const auto after = std::ranges::lower_bound(samples, at, {}, &timeline::Sample::end);
  return after == samples.begin() ? Nanoseconds{0} : (*(after - 1)).end;
}

/// The latest samples, about a second of them.
template <class Samples>
Window latest_of(const Samples& samples, Nanoseconds at) {
  return {at - kLatest, std::min(at, sampled_until(samples, at))};
}

std::vector<MeterFigures> meters_of(const Timeline& timeline, const timeline::Domain& domain, Window window) {
  std::vector<MeterFigures> figures;
  for (const int meter : domain.meters) {
    const auto samples = timeline.meter_samples(meter);
    const auto mean_in = [&](Window part) {
      Counted counted = counted_in(samples, part, share_of_time);
      counted.amount *= wire::kMeterStep;
      return counted.per_second();
    };
    figures.push_back({meter, mean_in(latest_of(samples, window.to)), mean_in(window)});
  }
  return figures;
}

int silent_members(const Timeline& timeline, std::span<const Rank> ranks, Nanoseconds at) {
  return int(std::count_if(ranks.begin(), ranks.end(), [&](Rank rank) {
    const Lane* lane = timeline.lane(rank);
    return !lane || steps::was_silent(*lane, at);
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
  activity.is_calibrated = info.calibrated;
  activity.saturated_bandwidth = info.saturated_bandwidth;
  activity.source = info.source;
  activity.note = info.note;
  activity.meters = meters_of(timeline, domain, window);
  if (info.source != wire::BandwidthSource::kNone) {
    activity.bandwidth = bandwidth_over(timeline, index, latest_of(timeline.samples(index), window.to), window.to);
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
  const Nanoseconds step = steps::typical_step_length(timeline, window.to);
  std::vector<DomainActivity> result;
  for (int index = 0; index < int(timeline.domains().size()); ++index) {
    result.push_back(activity_of(timeline, index, window, step));
    const StateChange* change = states ? states->at(index, window.to) : nullptr;
    if (change) take_state(result.back(), *change);
  }
  return result;
}

}  // namespace idlewave::analysis::domains
