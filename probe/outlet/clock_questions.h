#pragma once

#include <optional>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::outlet {

/// When to ask a monitor for the time, and which answers are worth telling. One question is under way at a time: often
/// in the first seconds, so that clocks are known soon, and seldom afterwards. Of the answers of a second the one that
/// was under way for the shortest time is kept, for what a question waited on its way is not known to be one way's or
/// the other's (D. L. Mills, RFC 5905, section 10). Times are the node's clock. One thread.
class ClockQuestions {
 public:
  /// The next question, if one is due.
  std::optional<wire::AskTime> ask(wire::Nanoseconds now);
  /// The answer, and when it came. What was not asked, or can't be, is passed over.
  void answer(const wire::TellTime& told, wire::Nanoseconds back);
  /// Round trips that are worth telling and were not taken yet, in their order.
  std::vector<wire::RoundTrip> take(wire::Nanoseconds now);

 private:
  std::optional<wire::Nanoseconds> since_;  ///< The first question.
  std::optional<wire::Nanoseconds> under_way_;
  wire::Nanoseconds asked_at_{};
  std::optional<wire::RoundTrip> shortest_;  ///< Since the last one that was told.
  std::optional<wire::Nanoseconds> told_at_;
};

}  // namespace idlewave::outlet
