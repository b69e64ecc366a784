#include "probe/mpi/habits/step_habit.h"

#include <algorithm>
#include <bit>

namespace idlewave::mpi::habits {

using Numbers = std::span<const std::uint8_t>;

std::optional<Numbers> StepHabit::end_step(wire::Step step, const WaitPatterns& patterns) {
  if (patterns.forgotten() != forgotten_) [[unlikely]] {
    forgotten_ = patterns.forgotten();
    remembered_ = 0;
    is_unknown_ = true;
  }
  const bool is_as_expected =
      !is_unknown_ && length_ > 0 && hash_ == cycle_[static_cast<std::uint64_t>(step) % length_].hash;
  remember(step);
  begin_step();
  if (length_ > 0) misses_ = misses_ << 1 | !is_as_expected;
  if (!is_as_expected) {
    const std::uint32_t found = period();
    if (found > 0)
      adopt(step, found, patterns);
    else if (std::popcount(misses_) > kMostMisses)
      length_ = 0;
  }
  return expected(step);
}

void StepHabit::skip() {
  remembered_ = 0;
  begin_step();
}

void StepHabit::forget() {
  length_ = 0;
  misses_ = 0;
  skip();
}

std::optional<Numbers> StepHabit::expected(wire::Step step) const {
  if (length_ == 0) return std::nullopt;
  const Expected& waits = cycle_[static_cast<std::uint64_t>(step) % length_];
  return Numbers(waits.numbers, waits.count);
}

/// Puts the step that ends behind those before it, if it follows them and is known.
void StepHabit::remember(wire::Step step) {
  if (is_unknown_ || step != last_step_ + 1) remembered_ = 0;
  last_step_ = step;
  if (is_unknown_) return;
  Waits& waits = history_[remembered_++ % kHistory];
  waits.hash = hash_;
  waits.count = static_cast<std::uint8_t>(count_);
  std::copy(order_, order_ + count_, waits.patterns);
}

void StepHabit::begin_step() {
  if (is_cut_ || count_ >= kManyWaits)
    long_for_ = kLatest;
  else if (long_for_ > 0)
    --long_for_;
  is_cut_ = false;
  hash_ = 0;
  count_ = 0;
  is_unknown_ = false;
  ++steps_;
}

bool StepHabit::repeats(std::uint32_t period) const {
  const std::uint32_t steps = std::max(2 * period, kFewestSteps);
  if (steps > remembered_) return false;
  for (std::uint32_t back = 0; back < steps - period; ++back)
    if (latest(back).hash != latest(back + period).hash) return false;
  return true;
}

/// The shortest in which the latest steps have come twice; 0 if there is none.
std::uint32_t StepHabit::period() const {
  for (std::uint32_t period = 1; period <= kLongest; ++period)
    if (repeats(period)) return period;
  return 0;
}

/// Takes the latest steps for the cycle that goes on. Where the book has no room for it, there is none.
void StepHabit::adopt(wire::Step step, std::uint32_t period, const WaitPatterns& patterns) {
  length_ = 0;
  misses_ = 0;
  for (std::uint32_t back = 0; back < period; ++back)
    if (!fill(cycle_[static_cast<std::uint64_t>(step - back) % period], latest(back), patterns)) return;
  length_ = period;
  was_found_ = true;
}

bool StepHabit::fill(Expected& expected, const Waits& waits, const WaitPatterns& patterns) {
  expected.hash = waits.hash;
  expected.count = waits.count;
  for (std::uint32_t i = 0; i < waits.count; ++i) {
    const auto before = static_cast<std::uint32_t>(std::count(waits.patterns, waits.patterns + i, waits.patterns[i]));
    const auto number = number_of(patterns[waits.patterns[i]], before, patterns);
    if (!number) return false;
    expected.numbers[i] = *number;
  }
  return true;
}

/// In the book, where each pattern stands as often as a step waits by it; nothing where it has no room.
std::optional<std::uint8_t> StepHabit::number_of(const WaitPatterns::Pattern& pattern, std::uint32_t time,
                                                 const WaitPatterns& patterns) {
  const std::uint64_t content = time == 0 ? pattern.content : WaitPatterns::mix(pattern.content + time);
  for (std::uint32_t number = 0; number < said_count_; ++number)
    if (said_[number].content == content) return static_cast<std::uint8_t>(number);
  const std::uint32_t all = pattern.sources + pattern.targets;
  if (said_count_ == shm::kPatterns || said_ranks_ + all > shm::kPatternRanks) return std::nullopt;
  said_[said_count_] = {content, said_ranks_, pattern.sources, pattern.targets, pattern.flags};
  const auto sources = patterns.sources_of(pattern), targets = patterns.targets_of(pattern);
  std::copy(sources.begin(), sources.end(), ranks_ + said_ranks_);
  std::copy(targets.begin(), targets.end(), ranks_ + said_ranks_ + sources.size());
  said_ranks_ += all;
  return static_cast<std::uint8_t>(said_count_++);
}

}  // namespace idlewave::mpi::habits
