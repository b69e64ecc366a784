#include "monitor/analysis/steps/step_parts.h"

#include <algorithm>
#include <optional>

namespace idlewave::analysis::steps {
namespace {

using timeline::Category;
using timeline::Lane;
using wire::Nanoseconds;

bool tells_sums(const Lane& lane, const StepCourse& course) {
  bool tells = false;
  lane.for_each_event(course.begin, course.end,
                      [&](const wire::Event& event) { tells = tells || event.kind == wire::EventKind::kSummed; });
  return tells;
}

StepCourse part_between(const Lane& lane, Nanoseconds begin, Nanoseconds end) {
  const timeline::Times times = lane.times(begin, end);
  const auto time_in = [&](Category category) { return Nanoseconds(times[std::size_t(category)]); };
  return {.begin = begin,
          .post = end - time_in(Category::kWait),
          .end = end,
          .held = time_in(Category::kDelay),
          .over = true};
}

std::vector<StepCourse> parts_of(const Lane& lane, const StepCourse& whole, std::span<const Nanoseconds> ends) {
  std::vector<StepCourse> parts;
  Nanoseconds begin = whole.begin, waited{};
  for (const Nanoseconds end : ends) {
    parts.push_back(part_between(lane, begin, end));
    waited += parts.back().waited();
    begin = end;
  }
  parts.push_back(part_between(lane, begin, whole.end));
  parts.back().post = std::clamp(whole.end - (whole.waited() - waited), begin, whole.end);
  return parts;
}

}  // namespace

std::optional<std::vector<CourseWait>> waits_in(const Lane& lane, const StepCourse& course, Nanoseconds tolerance) {
  if (course.begin < lane.events_from() || tells_sums(lane, course)) return std::nullopt;
  std::vector<CourseWait> waits;
  Nanoseconds worked{};  // Since the latest of them.
  lane.for_each_phase(course.begin, course.end, [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
    begin = std::max(begin, course.begin), end = std::min(end, course.end);
    const int category = timeline::category_of(phase);
    if (category == int(Category::kCompute) || category == int(Category::kDelay)) worked += end - begin;
    if (phase != wire::Phase::kWait) return;  // What starts something waits for nobody.
    if (waits.empty() || worked > tolerance) waits.push_back({begin, end});
    waits.back().end = end;
    worked = {};
  });
  return waits;
}

std::vector<std::vector<StepCourse>> parts_of(const timeline::Timeline& timeline, std::span<const RankCourse> courses,
                                              Nanoseconds tolerance) {
  std::vector<std::vector<CourseWait>> waits;
  for (const auto& [rank, course] : courses) {
    auto its = waits_in(*timeline.lane(rank), course, tolerance);
    if (!its || its->size() < 2 || (!waits.empty() && its->size() != waits[0].size())) return {};
    waits.push_back(std::move(*its));
  }
  if (waits.empty()) return {};
  std::vector<std::size_t> ending;
  for (std::size_t i = 0; i + 1 < waits[0].size(); ++i)
    if (std::ranges::any_of(waits, [&](const auto& its) { return its[i].end - its[i].begin > kShortWait; }))
      ending.push_back(i);
  if (ending.empty()) return {};
  std::vector<std::vector<StepCourse>> parts;
  for (std::size_t k = 0; k < courses.size(); ++k) {
    std::vector<Nanoseconds> ends;
    for (const std::size_t i : ending) ends.push_back(waits[k][i].end);
    parts.push_back(parts_of(*timeline.lane(courses[k].rank), courses[k].course, ends));
  }
  return parts;
}

}  // namespace idlewave::analysis::steps
