#include "monitor/analysis/activity.h"

#include <algorithm>

#include "monitor/analysis/step_history.h"
#include "monitor/theory/contention.h"

namespace idlewave::analysis {
namespace {

using timeline::Category;
using timeline::Lane;
using timeline::Timeline;

constexpr double kNanosPerSecond = 1e9;
constexpr Nanoseconds kShortestNow = std::chrono::milliseconds(100);
constexpr Nanoseconds kBandwidthNow = std::chrono::seconds(1);
/// Members of a domain whose step begins lie further apart than this share of a step are not in lockstep.
constexpr double kLockstepSpread = 0.25;
/// A rank that has waited in its step for longer than this many typical steps is inside an idle wave.
constexpr double kWaveWait = 1.5;
constexpr int kStepsForState = 5;

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

std::optional<double> bandwidth_over(const timeline::Domain& domain, Window window) {
  double bytes = 0;
  Nanoseconds covered{};
  for (auto sample = domain.samples.rbegin(); sample != domain.samples.rend() && sample->end > window.from; ++sample) {
    const Nanoseconds overlap = std::min(sample->end, window.to) - std::max(sample->begin, window.from);
    const Nanoseconds length = sample->end - sample->begin;
    if (overlap <= Nanoseconds{0} || length <= Nanoseconds{0}) continue;
    bytes += double(sample->bytes) * double(overlap.count()) / double(length.count());
    covered += overlap;
  }
  if (covered <= Nanoseconds{0}) return std::nullopt;
  return bytes / (double(covered.count()) / kNanosPerSecond);
}

int silent_members(const Timeline& timeline, std::span<const Rank> ranks, Nanoseconds at) {
  return int(std::count_if(ranks.begin(), ranks.end(), [&](Rank rank) {
    const Lane* lane = timeline.lane(rank);
    return !lane || was_silent(*lane, at);
  }));
}

double saturation_point(const wire::DomainInfo& info) {
  return info.curve.empty() ? theory::saturation_point(info.core_bandwidth, info.saturated_bandwidth)
                            : theory::saturation_point(info.curve);
}

bool inside_idle_wave(const Timeline& timeline, Rank rank, Nanoseconds typical_step, Nanoseconds at) {
  const Lane* lane = timeline.lane(rank);
  return lane && double(idle_in_step(*lane, at).count()) > kWaveWait * double(typical_step.count());
}

DomainState state_of(const Timeline& timeline, const DomainActivity& activity, std::span<const Rank> ranks,
                     Nanoseconds typical_step, Nanoseconds at) {
  if (activity.silent == activity.ranks) return DomainState::kNotActive;
  if (typical_step <= Nanoseconds{0}) return DomainState::kUnknown;
  const bool wave = std::any_of(ranks.begin(), ranks.end(),
                                [&](Rank rank) { return inside_idle_wave(timeline, rank, typical_step, at); });
  if (wave) return DomainState::kDisturbed;
  const auto spread = typical_spread(timeline, ranks, kStepsForState, at);
  if (!spread) return DomainState::kUnknown;
  return double(spread->count()) < kLockstepSpread * double(typical_step.count()) ? DomainState::kLockstep
                                                                                  : DomainState::kComputational;
}

DomainActivity activity_of(const Timeline& timeline, int index, Window window, Nanoseconds typical_step) {
  const timeline::Domain& domain = timeline.domains()[std::size_t(index)];
  DomainActivity activity;
  activity.domain = index;
  activity.ranks = int(domain.ranks.size());
  activity.silent = silent_members(timeline, domain.ranks, window.to);
  const Nanoseconds now_length = std::max(kShortestNow, 2 * typical_step);
  activity.active_now = mean_active(timeline, domain.ranks, {window.to - now_length, window.to});
  activity.active_mean = mean_active(timeline, domain.ranks, window);
  activity.is_known = cut_to_known(timeline, domain.ranks, window).length() > Nanoseconds{0};
  const auto& info = domain.info;
  activity.saturation_point = saturation_point(info);
  activity.saturated_bandwidth = info.saturated_bandwidth;
  activity.source = info.source;
  activity.note = info.note;
  if (info.source != wire::BandwidthSource::kNone) {
    activity.bandwidth = bandwidth_over(domain, {window.to - kBandwidthNow, window.to});
    activity.bandwidth_mean = bandwidth_over(domain, window);
  }
  activity.state = state_of(timeline, activity, domain.ranks, typical_step, window.to);
  return activity;
}

}  // namespace

std::string to_words(DomainState state) {
  switch (state) {
    case DomainState::kUnknown: return "too early to say";
    case DomainState::kNotActive: return "not active";
    case DomainState::kLockstep: return "lockstep";
    case DomainState::kComputational: return "computational wave";
    case DomainState::kDisturbed: return "idle wave inside";
  }
  return {};
}

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

std::vector<DomainActivity> domain_activity(const Timeline& timeline, Window window) {
  const Nanoseconds step = typical_step_length(timeline);
  std::vector<DomainActivity> result;
  for (int index = 0; index < int(timeline.domains().size()); ++index)
    result.push_back(activity_of(timeline, index, window, step));
  return result;
}

}  // namespace idlewave::analysis
