#pragma once
// A step in which ranks wait more than once, and work in between: its parts, each with waiting at its end.

#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/steps/step_course.h"

namespace idlewave::analysis::steps {

/// What no message that has been there for long takes to be sent or received.
inline constexpr wire::Nanoseconds kShortWait{5'000};

struct RankCourse {
  wire::Rank rank = 0;
  StepCourse course;
};

/// When a rank began to wait, and when it was over.
struct CourseWait {
  wire::Nanoseconds begin{}, end{};
};

/// Of one step, apart by more work than `tolerance`. Nothing: what the rank did in it is not kept, or told as sums. Costs in
/// proportion to events.
std::optional<std::vector<CourseWait>> waits_in(const timeline::Lane& lane, const StepCourse& course,
                                                wire::Nanoseconds tolerance);

/// Of these ranks' courses of the same step, all of which are over: the parts of each, one behind the other, as many for
/// all. They end with those waits in which somebody waited for longer than 5 us; no more work than `tolerance` between two
/// waits makes them one. Waiting in all of them together is that of the step. Empty: there is but one, ranks wait unequally often,
/// or what they did is not kept, or told as sums. Costs in proportion to events.
std::vector<std::vector<StepCourse>> parts_of(const timeline::Timeline& timeline, std::span<const RankCourse> courses,
                                              wire::Nanoseconds tolerance);

}  // namespace idlewave::analysis::steps
