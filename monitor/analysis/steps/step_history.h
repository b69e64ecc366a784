#pragma once
// Small questions about the steps that a timeline keeps, shared by the findings of this folder.

#include <optional>
#include <span>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::steps {

/// Median length of the latest steps of all ranks that had ended at `at`; 0 if none had. A few times it can be added to
/// any time of a session.
wire::Nanoseconds typical_step_length(const timeline::Timeline& timeline,
                                      wire::Nanoseconds at = wire::Nanoseconds::max());

/// The same about a moment, whatever came later: of the steps that had ended then, eight of some ranks; of a rank with fewer,
/// of those that ended next as well. 0 if there are none at all.
wire::Nanoseconds step_length_about(const timeline::Timeline& timeline, wire::Nanoseconds at);

/// Of a step of that length: less work is none, and so much later than the end of a wait the post that ended it may seem to be.
wire::Nanoseconds least_work(wire::Nanoseconds typical_step);

/// True for a rank that had stopped, or was lost, at or before `at`.
bool was_silent(const timeline::Lane& lane, wire::Nanoseconds at);

/// Largest step that each of `ranks` that still ran had begun before `at`; kNoStep if there is none.
wire::Step common_step(const timeline::Timeline& timeline, std::span<const wire::Rank> ranks, wire::Nanoseconds at);

/// Latest minus earliest begin of `step` among `ranks`, in the program that they ran at `at`; nothing unless at least
/// two of them keep that step.
std::optional<wire::Nanoseconds> begin_spread(const timeline::Timeline& timeline, std::span<const wire::Rank> ranks,
                                              wire::Step step, wire::Nanoseconds at);

/// Waiting, communicating and delay up to `at` in the step that went on then.
wire::Nanoseconds idle_in_step(const timeline::Lane& lane, wire::Nanoseconds at);

/// A step in which it waited long, where its events are kept: each time that stretch of eight in which it waited longest. Nothing
/// where none is over.
std::optional<wire::Step> step_of_long_wait(const timeline::Lane& lane);

/// When the last rank was heard of: time after the last stop is nobody's.
wire::Nanoseconds run_end(const timeline::Timeline& timeline);

/// All announced ranks that have told anything, ascending.
std::vector<wire::Rank> heard_ranks(const timeline::Timeline& timeline);

wire::Nanoseconds median(std::vector<wire::Nanoseconds> values);  ///< 0 of none.

}  // namespace idlewave::analysis::steps
