#pragma once
// How long messages take, as the waits of a rank tell.

#include <algorithm>
#include <optional>

#include "monitor/analysis/partners/partners.h"
#include "monitor/analysis/steps/step_course.h"

namespace idlewave::analysis::waves {

/// A step of a rank ends when the last message has come. That takes `each` for every one of the messages which, one after
/// another, lead from the sender to the rank, from the moment when the sender has done its part; and never less than `own`,
/// which is how long a rank waits that is the last of all. Nor does the step end before the rank has waited for `itself`,
/// as for messages that come back to it. Nanoseconds.
struct MessageTime {
  double each = 0;
  double own = 0;
  double itself = 0;

  /// After the post from which so many messages lead here.
  double of(int messages) const { return std::max(own, messages * each); }
  /// After the rank's own post, to which so many lead back.
  double of_itself(int messages) const { return std::max(itself, of(messages)); }
};

/// By the rank's steps about the one at that place of its record: the least that any of them leaves. A message that was
/// there before the rank waited tells the most that it can have taken, and one that was waited for what it took; where
/// none was, 0. What messages don't account for, and is more alike from step to step than they are, the rank waits for
/// itself. Costs in proportion to the partners, times a dozen steps.
MessageTime message_time(const timeline::Timeline& timeline, const partners::Partners& partners, wire::Rank rank,
                         std::size_t place);

/// The message for which a rank waits the longest in a step: from whom, and when it comes, or when the rank goes on by
/// itself.
struct LastMessage {
  wire::Rank from = -1;  ///< The rank itself: it waits for none.
  wire::Rank offset = 0;
  wire::Nanoseconds comes{};
};
/// `mine`: of the rank in that step, of the program that it ran at `at`.
LastMessage last_message(const timeline::Timeline& timeline, const partners::Partners& partners,
                         const MessageTime& time, wire::Rank rank, wire::Step step, const steps::StepCourse& mine,
                         wire::Nanoseconds at);

/// How much later the rank went on, in the step that began at `begin`, than messages account for that take as long as
/// those to the ranks beside it: of a rank that was stopped, not of one whose messages are there in time else.
wire::Nanoseconds beyond_messages(const timeline::Timeline& timeline, const partners::Partners& partners,
                                  wire::Rank rank, wire::Nanoseconds begin);

}  // namespace idlewave::analysis::waves
