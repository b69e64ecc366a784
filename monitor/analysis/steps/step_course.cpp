#include "monitor/analysis/steps/step_course.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace idlewave::analysis::steps {

using timeline::Category;
using timeline::Lane;
using timeline::StepRecord;
using wire::Nanoseconds;

namespace {

StepCourse going_on(const Lane& lane, const StepRecord& record) {
  const Nanoseconds until = std::max(lane.known_until(), record.begin);
  const Nanoseconds waited = lane.time_in(Category::kWait, record.begin, until);
  return {.begin = record.begin, .post = until - waited, .end = until, .held = record.delay, .over = false};
}

}  // namespace

StepCourse course_at(const Lane& lane, const StepRecord& record, Nanoseconds at) {
  const bool goes_on = record.end == Nanoseconds{0};
  if (goes_on ? at > lane.known_until() : at >= record.end) return course_of(lane, record);
  const Nanoseconds waited = lane.time_in(Category::kWait, record.begin, at);
  return {.begin = record.begin,
          .post = at - waited,
          .end = at,
          .held = lane.time_in(Category::kDelay, record.begin, at),
          .over = false};
}

StepCourse course_of(const Lane& lane, const StepRecord& record) {
  if (record.end == Nanoseconds{0}) return going_on(lane, record);
  return {.begin = record.begin,
          .post = record.end - record.wait - record.communicate,
          .end = record.end,
          .held = record.delay,
          .over = true};
}

Nanoseconds first_call(const Lane& lane, const StepCourse& course) {
  Nanoseconds first = course.post;
  lane.for_each_event(course.begin, course.post, [&](const wire::Event& event) {
    const bool waits = event.phase == wire::Phase::kWait || event.phase == wire::Phase::kCommunicate;
    if (waits && wire::changes_phase(event.kind)) first = std::min(first, event.time);
  });
  return first;
}

bool waits_first(const Lane& lane, const StepCourse& course, Nanoseconds least) {
  if (course.begin < lane.events_from()) return false;
  Nanoseconds before{}, behind{}, longest{};
  lane.for_each_phase(course.begin, course.end, [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
    const Nanoseconds length = std::min(end, course.end) - std::max(begin, course.begin);
    const int category = timeline::category_of(phase);
    if (phase == wire::Phase::kWait && length > longest) {
      longest = length;
      before += std::exchange(behind, {});
    } else if (category == int(Category::kCompute) || category == int(Category::kDelay)) {
      behind += length;
    }
  });
  return longest > least && before < least && behind > least;
}

std::optional<AroundWork> around_work(const Lane& lane, const StepCourse& course) {
  if (course.begin < lane.events_from()) return std::nullopt;
  const auto for_each_phase = [&](auto tell) {
    lane.for_each_phase(course.begin, course.end, [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
      tell(std::max(begin, course.begin), std::min(end, course.end), Category(timeline::category_of(phase)));
    });
  };
  Nanoseconds work_begins{}, longest{};
  for_each_phase([&](Nanoseconds begin, Nanoseconds end, Category category) {
    if (category == Category::kCompute && end - begin > longest) work_begins = begin, longest = end - begin;
  });
  if (longest == Nanoseconds{0}) return std::nullopt;
  AroundWork found{.post = work_begins, .end = work_begins};
  for_each_phase([&](Nanoseconds begin, Nanoseconds end, Category category) {
    if (category == Category::kCompute || category == Category::kDelay) found.done = end;
    if (category != Category::kWait) return;
    if (begin < work_begins) {
      if (found.waited_before == Nanoseconds{0}) found.post = begin;
      found.waited_before += end - begin, found.end = end;
    } else {
      found.waited_behind += end - begin;
    }
  });
  return found;
}

bool is_known(const Lane& lane, const StepRecord& record) {
  const Nanoseconds length = record.end - record.begin;
  if (record.compute + record.wait + record.communicate + record.delay == length) return true;
  // Time outside any phase is in no figure of the record, and known all the same.
  const timeline::Times times = lane.times(record.begin, record.end);
  return std::accumulate(times.begin(), times.end(), std::int64_t{0}) >= length.count();
}

std::vector<StepCourse> courses_around(const Lane& lane, Nanoseconds begin, std::size_t period) {
  constexpr std::ptrdiff_t kReach = 16, kFewestAlike = 4;
  const auto apart = std::ptrdiff_t(period), times = std::max(kReach / apart, kFewestAlike);
  const auto& steps = lane.steps();
  const auto place = std::ptrdiff_t(lane.steps_begun_before(begin));
  std::vector<StepCourse> courses;
  for (std::ptrdiff_t i = place - std::min(times, place / apart) * apart;
       i <= place + times * apart && i < std::ssize(steps); i += apart) {
    const StepRecord& record = *(steps.begin() + i);
    if (i != place && record.end != Nanoseconds{0}) courses.push_back(course_of(lane, record));
  }
  return courses;
}

std::optional<StepCourse> step_course(const timeline::Timeline& timeline, wire::Rank rank, wire::Step step,
                                      Nanoseconds at) {
  const Lane* lane = timeline.lane(rank);
  const auto record = lane ? lane->step(step, at) : std::nullopt;
  return record ? std::optional(course_of(*lane, *record)) : std::nullopt;
}

}  // namespace idlewave::analysis::steps
