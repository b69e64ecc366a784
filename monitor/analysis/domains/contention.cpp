#include "monitor/analysis/domains/contention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>

#include "monitor/analysis/least_squares.h"
#include "monitor/analysis/steps/step_period.h"

namespace idlewave::analysis::domains {
namespace {

using timeline::Lane;
using Sample = Contention::Sample;

constexpr std::size_t kDomainsLooked = 8;
constexpr std::size_t kStepsLooked = 48;
constexpr std::size_t kRanksLooked = 4;
/// Times that vary by less than this share of themselves tell nothing.
constexpr double kSteady = 0.01;
/// Of their mean: kinds of steps that are no more unlike are one kind.
constexpr double kUnlike = 0.25;
/// Times s(n) have to vary by so much less than times.
constexpr double kBetter = 0.7;
/// The same where nothing disturbs anybody: in lockstep only those work in other company whom a wave passes.
constexpr double kNearlySteady = 1e-4, kMuchBetter = 0.2;
/// Spans of counted bytes that are looked at.
constexpr std::size_t kSpansLooked = 16;
/// Ranks that share get so much of their work done, or less, in the time that it takes.
constexpr double kSlowed = 0.9;
/// Bytes that were moved, over what so many ranks can move.
constexpr double kUsedUp = 0.8;
/// Mean absolute deviations over the root of their number: two standard errors of the difference between the medians of two
/// halves.
constexpr double kBeyondChance = 6;

std::vector<double> all(std::span<const Sample> samples, double (*figure)(const Sample&)) {
  std::vector<double> figures;
  for (const Sample& sample : samples) figures.push_back(figure(sample));
  return figures;
}
double time_of(const Sample& sample) { return sample.time; }
double alone_of(const Sample& sample) { return sample.alone; }
double slowdown_of(const Sample& sample) { return sample.slowdown(); }

/// What would have been slowed more took longer, by more than half of that. Where noise is told as work, times alone vary
/// by it as much as times do, and it is this that tells.
bool grows_with_slowdown(std::vector<Sample> samples) {
  std::ranges::sort(samples, {}, &Sample::slowdown);
  const auto less = std::span(samples).first(samples.size() / 2), more = std::span(samples).subspan(less.size());
  if (less.empty()) return false;
  const std::vector<double> alones = all(samples, alone_of);
  const double longer = (median(all(more, time_of)) - median(all(less, time_of))) / median(alones);
  const double slower = median(all(more, slowdown_of)) - median(all(less, slowdown_of));
  const double by_chance = kBeyondChance * variation(alones) / std::sqrt(double(samples.size()));
  return slower > kSteady && longer - slower / 2 > by_chance;
}

/// Times vary by what sharing makes of them.
bool is_explained(const std::vector<Sample>& samples) {
  const double times = variation(all(samples, time_of)), alones = variation(all(samples, alone_of));
  return (times > kSteady && alones < kBetter * times) || (times > kNearlySteady && alones < kMuchBetter * times);
}

/// Of what it worked: so many kinds of steps come in turn.
std::size_t period_of(const Lane& lane) {
  const auto steps = lane.steps();
  std::array<float, steps::kValuesForPeriod> works;
  std::size_t count = 0;
  double sum = 0;
  for (std::size_t k = steps.size() - std::min(steps.size(), steps::kValuesForPeriod + 1); k < steps.size(); ++k) {
    const steps::StepCourse course = steps::course_of(lane, steps[k]);
    if (!course.over || count == steps::kValuesForPeriod) break;
    sum += double(course.work().count());
    works[count++] = float(course.work().count());
  }
  return steps::step_period(std::span(works).first(count),
                            float(kUnlike * sum / double(std::max<std::size_t>(1, count))));
}

bool show_sharing(const std::vector<Sample>& samples) {
  return !samples.empty() && (is_explained(samples) || grows_with_slowdown(samples));
}

}  // namespace

Contention::Contention(const timeline::Timeline& timeline) : timeline_(timeline), shared_(timeline.domains().size()) {
  for (const timeline::Domain& domain : timeline.domains()) bandwidths_.push_back(bandwidth_of(domain.info));
}

bool Contention::matters_to(Rank rank) const {
  const int domain = timeline_.domain_of(rank);
  if (domain < 0) return false;
  std::optional<bool>& shared = shared_[std::size_t(domain)];
  if (!shared)
    shared = bandwidths_[std::size_t(domain)] &&
             (is_used_up(domain) || show_sharing(samples_of(domain)) || is_shared_in_several());
  return *shared;
}

const std::vector<Rank>& Contention::mates(Rank rank) const {
  static const std::vector<Rank> kNone;
  return matters_to(rank) ? timeline_.domains()[std::size_t(timeline_.domain_of(rank))].ranks : kNone;
}

double Contention::time_alone(int domain, const steps::StepCourse& course) const {
  const Window work = work_of(course);
  const auto& ranks = timeline_.domains()[std::size_t(domain)].ranks;
  return Concurrency(work_in(timeline_, ranks, work), bandwidths_[std::size_t(domain)]).within(work).alone;
}

double Contention::alone(Rank rank, const steps::StepCourse& course) const {
  return matters_to(rank) ? time_alone(timeline_.domain_of(rank), course) : double(course.work().count());
}

double Contention::owed_to_others(Rank rank, wire::Step step, Nanoseconds begin, std::size_t period) const {
  const auto course = matters_to(rank) ? steps::step_course(timeline_, rank, step, begin) : std::nullopt;
  const double here = course ? alone(rank, *course) : 0;
  if (here <= 0) return 0;
  std::vector<double> alones, works;
  for (const steps::StepCourse& each : steps::courses_around(*timeline_.lane(rank), course->begin, period)) {
    alones.push_back(alone(rank, each));
    works.push_back(double(each.work().count()));
  }
  if (alones.empty()) return 0;
  const double slowdown = double(course->work().count()) / here;
  return (median(std::move(alones)) * slowdown - median(std::move(works))) * 1e-9;
}

/// Some steps of some of its ranks, of one kind where kinds of steps come in turn; none where nobody can take anything from anybody.
std::vector<Sample> Contention::samples_of(int domain) const {
  const auto& ranks = timeline_.domains()[std::size_t(domain)].ranks;
  std::vector<Sample> samples;
  if (!bandwidths_[std::size_t(domain)] || ranks.size() < 2) return samples;
  for (std::size_t i = 0; i < ranks.size(); i += std::max<std::size_t>(1, ranks.size() / kRanksLooked)) {
    const Lane* lane = timeline_.lane(ranks[i]);
    if (!lane) continue;
    const auto steps = lane->steps();
    const std::size_t period = period_of(*lane),
                      periods = std::max<std::size_t>(1, steps.size() / kStepsLooked / period);
    for (std::size_t k = 0; k < steps.size(); k += periods * period) {
      const steps::StepCourse course = steps::course_of(*lane, steps[k]);
      if (!course.over) continue;
      const double took = double(course.work().count()), by_itself = time_alone(domain, course);
      if (by_itself > 0) samples.push_back({took, by_itself});
    }
  }
  return samples;
}

/// As many bytes are moved as so many ranks can move together, who would move more apart. Ranks in lockstep, of which all
/// steps are alike, tell it by this alone.
bool Contention::is_used_up(int domain) const {
  const auto& ranks = timeline_.domains()[std::size_t(domain)].ranks;
  const auto spans = timeline_.samples(domain);
  Progress all;
  double moved = 0;
  for (std::size_t k = 0; k < spans.size(); k += std::max<std::size_t>(1, spans.size() / kSpansLooked)) {
    const timeline::Sample span = spans[k];
    const Window window{span.begin, span.end};
    const Concurrency concurrency(work_in(timeline_, ranks, window), bandwidths_[std::size_t(domain)]);
    all = all.later_by(1, concurrency.within(window));
    moved += double(span.amount);
  }
  return all.alone < kSlowed * all.rank_time && moved > kUsedUp * all.volume;
}

bool Contention::is_shared_in_several() const {
  if (shared_in_several_) return *shared_in_several_;
  std::vector<Sample> samples;
  const std::size_t domains = bandwidths_.size();
  for (std::size_t i = 0; i < domains; i += std::max<std::size_t>(1, domains / kDomainsLooked))
    std::ranges::copy(samples_of(int(i)), std::back_inserter(samples));
  shared_in_several_ = show_sharing(samples);
  return *shared_in_several_;
}

}  // namespace idlewave::analysis::domains
