#include "monitor/analysis/step_course.h"

namespace idlewave::analysis {

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

StepCourse course_of(const Lane& lane, const StepRecord& record) {
  if (record.end == Nanoseconds{0}) return going_on(lane, record);
  return {.begin = record.begin,
          .post = record.end - record.wait - record.communicate,
          .end = record.end,
          .held = record.delay,
          .over = true};
}

std::optional<StepCourse> step_course(const timeline::Timeline& timeline, wire::Rank rank, wire::Step step,
                                      Nanoseconds at) {
  const Lane* lane = timeline.lane(rank);
  const auto record = lane ? lane->step(step, at) : std::nullopt;
  return record ? std::optional(course_of(*lane, *record)) : std::nullopt;
}

}  // namespace idlewave::analysis
