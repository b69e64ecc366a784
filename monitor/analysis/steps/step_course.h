#pragma once
// One step of one rank as causes see it: what the rank does itself, then waiting for others.

#include <optional>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::steps {

/// Session time. Waiting and communicating are taken to be at the end of the step, as in bulk-synchronous programs.
struct StepCourse {
  wire::Nanoseconds begin{};
  /// The rank has done its own part and begins to wait. Of a step that goes on and does not wait yet: as `end`.
  wire::Nanoseconds post{};
  /// Of a step that goes on: how far it is known.
  wire::Nanoseconds end{};
  /// Of its own part: delays and noise.
  wire::Nanoseconds held{};
  bool over = false;

  wire::Nanoseconds own() const { return post - begin; }
  /// Of its own part: work.
  wire::Nanoseconds work() const { return own() > held ? own() - held : wire::Nanoseconds{0}; }
  wire::Nanoseconds waited() const { return end - post; }
};

StepCourse course_of(const timeline::Lane& lane, const timeline::StepRecord& record);
/// As it stood at `at`, not before it began: one that ended later went on then.
StepCourse course_at(const timeline::Lane& lane, const timeline::StepRecord& record, wire::Nanoseconds at);

/// When the rank first waited or communicated in it, as far as its events are kept; at the latest its post.
wire::Nanoseconds first_call(const timeline::Lane& lane, const StepCourse& course);

/// A step about the longest stretch of work in it.
struct AroundWork {
  /// From the first wait before it to the end of the last one; where there is none, both when it begins.
  wire::Nanoseconds post{}, end{};
  wire::Nanoseconds done{};  ///< When nothing is left of its own part.
  wire::Nanoseconds waited_before{}, waited_behind{};
};
/// Nothing where its events are not kept, and of a step in which the rank does not work.
std::optional<AroundWork> around_work(const timeline::Lane& lane, const StepCourse& course);

/// The rank waits first in that step and works then, for longer than `least` and for less before, as far as its events are
/// kept: its own part is behind its waiting.
bool waits_first(const timeline::Lane& lane, const StepCourse& course, wire::Nanoseconds least);

/// Nothing of what the rank did in it was lost.
bool is_known(const timeline::Lane& lane, const timeline::StepRecord& record);

/// What is ordinary for the rank about the step that began at `begin`: up to 16 steps before it and as many after it, as far
/// as they are over; where kinds of steps come in turn, `period` of them, those of its kind, four before and four after it at
/// least. One number for all who ask: what is owed to others is taken off from what a step lasted beyond what is
/// ordinary, and medians over fewer steps are of another kind where a domain falls into step or out of it.
std::vector<StepCourse> courses_around(const timeline::Lane& lane, wire::Nanoseconds begin, std::size_t period = 1);

/// Step `step` of the program that the rank ran at `at`; nothing if that is not kept, or has not begun. O(1) where steps
/// are numbered without gaps.
std::optional<StepCourse> step_course(const timeline::Timeline& timeline, wire::Rank rank, wire::Step step,
                                      wire::Nanoseconds at);

}  // namespace idlewave::analysis::steps
