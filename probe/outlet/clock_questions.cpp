#include "probe/outlet/clock_questions.h"

#include <chrono>
#include <cstdint>

namespace idlewave::outlet {

using wire::Nanoseconds;

namespace {

constexpr Nanoseconds kAtFirst = std::chrono::seconds(10);
constexpr Nanoseconds kPeriodAtFirst = std::chrono::milliseconds(40), kPeriod = std::chrono::milliseconds(200);
constexpr Nanoseconds kTellPeriod = std::chrono::seconds(1);
/// An answer that takes longer tells nothing, or will not come any more.
constexpr Nanoseconds kPatience = std::chrono::seconds(1);

Nanoseconds length_of(const wire::RoundTrip& trip) { return (trip.back - trip.asked) - (trip.told - trip.heard); }

/// Two moments of one clock, whatever they are.
bool is_soon_after(Nanoseconds from, Nanoseconds to) {
  const std::uint64_t length = static_cast<std::uint64_t>(to.count()) - static_cast<std::uint64_t>(from.count());
  return from <= to && length <= static_cast<std::uint64_t>(kPatience.count());
}

}  // namespace

std::optional<wire::AskTime> ClockQuestions::ask(Nanoseconds now) {
  const Nanoseconds period = now - since_.value_or(now) < kAtFirst ? kPeriodAtFirst : kPeriod;
  if (since_ && now - asked_at_ < (under_way_ ? kPatience : period)) return std::nullopt;
  since_ = since_.value_or(now);
  under_way_ = asked_at_ = now;
  return wire::AskTime{now};
}

void ClockQuestions::answer(const wire::TellTime& told, Nanoseconds back) {
  if (!under_way_ || told.asked != *under_way_) return;
  under_way_.reset();
  if (!is_soon_after(told.asked, back) || !is_soon_after(told.heard, told.told)) return;
  const wire::RoundTrip trip{told.asked, told.heard, told.told, back, told.reference};
  if (length_of(trip) < Nanoseconds(0)) return;
  if (!shortest_ || trip.reference != shortest_->reference || length_of(trip) < length_of(*shortest_)) shortest_ = trip;
}

std::vector<wire::RoundTrip> ClockQuestions::take(Nanoseconds now) {
  if (!shortest_ || (told_at_ && now - *told_at_ < kTellPeriod)) return {};
  told_at_ = now;
  std::vector<wire::RoundTrip> trips{*shortest_};
  shortest_.reset();
  return trips;
}

}  // namespace idlewave::outlet
