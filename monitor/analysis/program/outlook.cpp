#include "monitor/analysis/program/outlook.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "monitor/analysis/causes/cause_ground.h"
#include "monitor/analysis/steps/step_course.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::program {
namespace {

using timeline::Lane;
using timeline::Timeline;
using wire::seconds;

constexpr std::size_t kStepsLooked = 32;
constexpr Rank kRanksLooked = 256;
/// Of a typical step: longer ones are a wave's.
constexpr double kOrdinary = 1.5;
/// Of a step: so much waiting for others and ranks that share memory are out of step.
constexpr double kOutOfStep = 0.1;
/// Of its saturated bandwidth: what a domain uses when memory is what limits its ranks.
constexpr double kSaturated = 0.85;

struct OrdinaryStep : steps::StepCourse {
  Rank rank = 0;
  wire::Step number = wire::kNoStep;
};

std::vector<OrdinaryStep> ordinary_steps(const Timeline& timeline, Nanoseconds typical) {
  std::vector<OrdinaryStep> steps;
  const Rank stride = std::max<Rank>(1, timeline.ranks() / kRanksLooked);
  for (Rank rank = 0; rank < timeline.ranks(); rank += stride) {
    const Lane* lane = timeline.lane(rank);
    const std::size_t kept = lane ? lane->steps().size() : 0;
    for (std::size_t k = kept - std::min(kept, kStepsLooked); k < kept; ++k) {
      const timeline::StepRecord record = lane->steps()[k];
      const steps::StepCourse course = steps::course_of(*lane, record);
      if (course.over && seconds(course.end - course.begin) <= kOrdinary * seconds(typical))
        steps.push_back({course, rank, record.step});
    }
  }
  return steps;
}

template <class Value>
double mean(const std::vector<OrdinaryStep>& steps, Value value) {
  double sum = 0;
  for (const steps::StepCourse& step : steps) sum += seconds(value(step));
  return sum / double(steps.size());
}

/// When the last of the rank and of all whom it waits for had done its part of the step.
Nanoseconds last_post(const Timeline& timeline, const partners::Partners& partners, const OrdinaryStep& step) {
  Nanoseconds last = step.post;
  partners.for_each_awaited(step.rank, step.number, timeline.ranks(), [&](Rank partner, Rank) {
    if (const auto course = steps::step_course(timeline, partner, step.number, step.begin))
      last = std::max(last, course->post);
  });
  return last;
}

/// Median of what a wait lasted beyond the last post. Where nobody is known to wait for anybody all of a wait is that.
double transfer(const Timeline& timeline, const partners::Partners& partners, const std::vector<OrdinaryStep>& steps) {
  std::vector<Nanoseconds> beyond;
  for (const OrdinaryStep& step : steps) beyond.push_back(step.end - last_post(timeline, partners, step));
  return std::max(0.0, seconds(steps::median(std::move(beyond))));
}

/// V / b(1), what the work of a step would take alone (afzal-2020, eq. 1), by the bytes that saturated domains were seen
/// to move. Nothing: no domain was seen saturated.
std::optional<double> seen_alone(const Timeline& timeline, std::span<const domains::DomainActivity> domains,
                                 double step) {
  double bytes_per_second = 0, ranks = 0, core_bandwidth = 0;
  for (const domains::DomainActivity& each : domains) {
    if (!each.bandwidth_mean || *each.bandwidth_mean < kSaturated * each.saturated_bandwidth) continue;
    bytes_per_second += *each.bandwidth_mean, ranks += each.ranks;
    core_bandwidth = timeline.domains()[std::size_t(each.domain)].info.core_bandwidth;
  }
  if (core_bandwidth <= 0 || ranks <= 0) return std::nullopt;
  return bytes_per_second * step / ranks / core_bandwidth;
}

/// Where bytes are not counted: of so many as are active, those that the bandwidth suffices for.
double share_alone(std::span<const domains::DomainActivity> domains) {
  double active = 0, suffices = 0;
  for (const domains::DomainActivity& each : domains)
    active += each.active_mean, suffices += std::min(each.active_mean, each.saturation_point);
  return active > 0 && suffices > 0 ? suffices / active : 1;
}

}  // namespace

Outlook outlook(const Timeline& timeline, std::span<const domains::DomainActivity> domains,
                const causes::CauseGround& ground) {
  const std::vector<Rank>& offsets = ground.partners.offsets_in(timeline.latest_step());
  Outlook outlook{.ring = ground.partners.ring,
                  .collective = ground.partners.are_collective_around(timeline.latest_step()),
                  .known = !offsets.empty()};
  for (const Rank offset : offsets)
    outlook.up = std::max(outlook.up, int(-offset)), outlook.down = std::max(outlook.down, int(offset));
  if (!outlook.known) outlook.up = outlook.down = 1;
  const auto steps = ordinary_steps(timeline, steps::typical_step_length(timeline));
  if (steps.empty()) return outlook;
  outlook.step = mean(steps, [](const steps::StepCourse& step) { return step.end - step.begin; });
  const double work = mean(steps, [](const steps::StepCourse& step) { return step.work(); });
  const double held = mean(steps, [](const steps::StepCourse& step) { return step.own() - step.work(); });
  const double shared = ground.shares_bandwidth ? work * share_alone(domains) : work;
  const double alone = std::min(work, seen_alone(timeline, domains, outlook.step).value_or(shared));
  const double messages = transfer(timeline, ground.partners, steps);
  // In a computational wave lateness goes undiminished from the domain that is in step to all others, but not back.
  const bool is_out_of_step = outlook.step - work - held - messages > kOutOfStep * outlook.step;
  const bool shares = ground.shares_bandwidth || alone < work;
  outlook.step_behind = shares && is_out_of_step ? 0 : alone + held + messages;
  return outlook;
}

}  // namespace idlewave::analysis::program
