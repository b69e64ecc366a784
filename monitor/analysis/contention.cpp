#include "monitor/analysis/contention.h"

#include <algorithm>
#include <cmath>

#include "monitor/analysis/least_squares.h"
#include "monitor/theory/contention.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using wire::Nanoseconds;
using wire::Rank;

constexpr std::size_t kStepsLooked = 48;
constexpr std::size_t kRanksLooked = 4;
constexpr std::ptrdiff_t kStepsAround = 8;
/// Times that vary by less than this share of themselves tell nothing.
constexpr double kSteady = 0.01;
/// Times s(n) have to vary by so much less than times.
constexpr double kBetter = 0.7;

/// Mean absolute deviation from the median, as a share of it.
double variation(const std::vector<double>& values) {
  const double middle = median(values);
  double sum = 0;
  for (const double value : values) sum += std::abs(value - middle);
  return middle > 0 ? sum / double(values.size()) / middle : 0;
}

struct Span {
  Nanoseconds from{};
  Nanoseconds to{};
};

/// When the rank worked. Noise comes behind the work and a delay before it; a record does not tell which of them held
/// the rank, but only a delay is longer than the work.
Span work_span(const StepCourse& course) {
  const Nanoseconds work = course.work();
  return course.held > work ? Span{course.post - work, course.post} : Span{course.begin, course.begin + work};
}

/// A rank begins or ends to be active.
struct Change {
  Nanoseconds at{};
  int by = 0;
};

void add_changes(const Lane& lane, Span span, std::vector<Change>& changes) {
  lane.for_each_step(span.from, span.to, [&](const StepRecord& record) {
    const Span work = work_span(course_of(lane, record));
    const Nanoseconds from = std::max(work.from, span.from), to = std::min(work.to, span.to);
    if (from < to) changes.push_back({from, +1}), changes.push_back({to, -1});
  });
}

}  // namespace

Contention::Contention(const timeline::Timeline& timeline) : timeline_(timeline), shared_(timeline.domains().size()) {}

bool Contention::matters_to(Rank rank) const {
  const int domain = timeline_.domain_of(rank);
  if (domain < 0) return false;
  std::optional<bool>& shared = shared_[std::size_t(domain)];
  if (!shared) {
    // Looking whether it matters asks for times alone: as if it did.
    shared = true;
    shared = is_shared(domain);
  }
  return *shared;
}

const std::vector<Rank>& Contention::mates(Rank rank) const {
  static const std::vector<Rank> kNone;
  return matters_to(rank) ? timeline_.domains()[std::size_t(timeline_.domain_of(rank))].ranks : kNone;
}

double Contention::speed(int domain, int active) const {
  const wire::DomainInfo& info = timeline_.domains()[std::size_t(domain)].info;
  return theory::domain_bandwidth(active, info.core_bandwidth, info.saturated_bandwidth) /
         (double(active) * info.core_bandwidth);
}

double Contention::alone(Rank rank, const StepCourse& course) const {
  if (!matters_to(rank)) return double(course.work().count());
  const int domain = timeline_.domain_of(rank);
  const Span span = work_span(course);
  std::vector<Change> changes;
  for (const Rank mate : timeline_.domains()[std::size_t(domain)].ranks)
    if (const Lane* lane = mate == rank ? nullptr : timeline_.lane(mate)) add_changes(*lane, span, changes);
  std::ranges::sort(changes, {}, &Change::at);
  changes.push_back({span.to, 0});
  double alone = 0;
  int active = 1;
  Nanoseconds since = span.from;
  for (const Change& change : changes) {
    alone += double((change.at - since).count()) * speed(domain, active);
    active += change.by;
    since = change.at;
  }
  return alone;
}

double Contention::owed_to_others(Rank rank, wire::Step step, Nanoseconds begin) const {
  const auto course = matters_to(rank) ? step_course(timeline_, rank, step, begin) : std::nullopt;
  const double here = course ? alone(rank, *course) : 0;
  if (here <= 0) return 0;
  std::vector<double> alones, works;
  for (const StepCourse& each : courses_around(*timeline_.lane(rank), course->begin, kStepsAround)) {
    alones.push_back(alone(rank, each));
    works.push_back(double(each.work().count()));
  }
  if (alones.empty()) return 0;
  const double slowdown = double(course->work().count()) / here;
  return (median(std::move(alones)) * slowdown - median(std::move(works))) * 1e-9;
}

/// By some steps of some of its ranks.
bool Contention::is_shared(int domain) const {
  const timeline::Domain& each = timeline_.domains()[std::size_t(domain)];
  if (each.info.core_bandwidth <= 0 || each.info.saturated_bandwidth <= 0 || each.ranks.size() < 2) return false;
  std::vector<double> times, alones;
  const std::size_t stride = std::max<std::size_t>(1, each.ranks.size() / kRanksLooked);
  for (std::size_t i = 0; i < each.ranks.size(); i += stride) {
    const Lane* lane = timeline_.lane(each.ranks[i]);
    if (!lane) continue;
    const auto steps = lane->steps();
    for (std::size_t k = 0; k < steps.size(); k += std::max<std::size_t>(1, steps.size() / kStepsLooked)) {
      const StepCourse course = course_of(*lane, steps[k]);
      if (!course.over) continue;
      times.push_back(double(course.work().count()));
      alones.push_back(alone(each.ranks[i], course));
    }
  }
  return !times.empty() && variation(times) > kSteady && variation(alones) < kBetter * variation(times);
}

}  // namespace idlewave::analysis
