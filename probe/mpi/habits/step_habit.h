#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "probe/mpi/habits/wait_patterns.h"

namespace idlewave::mpi::habits {

/// What a rank does again and again: the cycle of steps that it is in, each a sequence of waits. A cycle is believed when
/// it has come twice, and for eight steps; steps that happen now and then, such as a checkpoint, leave it as it is, until
/// they come in a cycle themselves. Where more than a quarter of the latest 64 steps are others than the cycle has, there
/// is none. No allocation; one thread.
class StepHabit {
 public:
  static constexpr std::uint32_t kLongest = 64;  ///< Cycle, in steps.
  static constexpr std::uint8_t kMostTimes = 8;  ///< Of a wait in a step; where it comes oftener, so many are said.

  /// As it goes into a shm::PartnerBook.
  struct Said {
    std::uint64_t content = 0;
    std::uint32_t first = 0, sources = 0, targets = 0;
    std::uint32_t flags = 0;
  };

  /// The step that goes on waits by this pattern as well. kUnknown makes a step of which nothing is known.
  void wait(std::uint16_t pattern, const WaitPatterns& patterns) {
    if (pattern == WaitPatterns::kUnknown) [[unlikely]] {
      is_unknown_ = true;
      return;
    }
    Seen& seen = seen_[pattern];
    if (seen.in != steps_ + 1)
      seen = {steps_ + 1, 0};
    else if (adds_nothing(patterns[pattern]))
      return;
    if (seen.times == kMostTimes) {
      is_cut_ = true;
      return;
    }
    ++seen.times;
    if (count_ == shm::kPatterns) [[unlikely]] {
      is_unknown_ = is_cut_ = true;
      return;
    }
    order_[count_++] = pattern;
    hash_ = WaitPatterns::mix(hash_ + patterns[pattern].content);
  }
  void wait_unknown() { is_unknown_ = true; }

  /// Step `step` is over. The waits of the cycle in a step of that number, by numbers below shm::kPatterns that said()
  /// explains; nothing while no cycle is known.
  std::optional<std::span<const std::uint8_t>> end_step(wire::Step step, const WaitPatterns& patterns);
  /// What was before is no step.
  void skip();
  /// Neither are those before that.
  void forget();

  /// One of the latest steps had too many waits for a cycle to tell which of them is which.
  bool has_long_steps() const { return long_for_ > 0; }
  /// There has been a cycle.
  bool was_found() const { return was_found_; }
  const Said& said(std::uint8_t number) const { return said_[number]; }
  std::span<const wire::Rank> sources_of(const Said& said) const { return {ranks_ + said.first, said.sources}; }
  std::span<const wire::Rank> targets_of(const Said& said) const {
    return {ranks_ + said.first + said.sources, said.targets};
  }

 private:
  static constexpr std::uint32_t kHistory = 2 * kLongest;
  static constexpr std::uint32_t kFewestSteps = 8;
  static constexpr int kMostMisses = 16;  ///< Of 64 steps.
  static constexpr std::uint32_t kManyWaits = 16;
  static constexpr std::uint32_t kLatest = 16;  ///< Steps.

  struct Waits {
    std::uint64_t hash = 0;
    std::uint8_t count = 0;
    std::uint16_t patterns[shm::kPatterns] = {};
  };
  struct Expected {
    std::uint64_t hash = 0;
    std::uint8_t count = 0;
    std::uint8_t numbers[shm::kPatterns] = {};
  };

  /// Again in a step: nobody can be later than all others were.
  static bool adds_nothing(const WaitPatterns::Pattern& pattern) {
    return pattern.flags & shm::PartnerBook::kCollective && pattern.sources == 0;
  }
  void remember(wire::Step step);
  void begin_step();
  std::optional<std::span<const std::uint8_t>> expected(wire::Step step) const;
  const Waits& latest(std::uint32_t back) const { return history_[(remembered_ - 1 - back) % kHistory]; }
  bool repeats(std::uint32_t period) const;
  std::uint32_t period() const;
  void adopt(wire::Step step, std::uint32_t period, const WaitPatterns& patterns);
  bool fill(Expected& expected, const Waits& waits, const WaitPatterns& patterns);
  std::optional<std::uint8_t> number_of(const WaitPatterns::Pattern& pattern, std::uint32_t time,
                                        const WaitPatterns& patterns);

  // Of the step that goes on.
  std::uint64_t hash_ = 0;
  std::uint32_t count_ = 0;
  bool is_unknown_ = false;
  bool is_cut_ = false;  ///< Waits are left out.
  std::uint16_t order_[shm::kPatterns] = {};
  struct Seen {
    std::uint32_t in = 0;  ///< The latest step, from 1.
    std::uint32_t times = 0;
  };
  Seen seen_[WaitPatterns::kMostPatterns] = {};  ///< By pattern.

  std::uint32_t steps_ = 0;   ///< Gone through.
  std::uint32_t length_ = 0;  ///< Of the cycle; 0: none.
  std::uint64_t misses_ = 0;  ///< A bit a step, the latest lowest.
  bool was_found_ = false;
  std::uint32_t long_for_ = 0;   ///< Steps, unless one of them is long as well.
  std::uint32_t forgotten_ = 0;  ///< Of the patterns that the history names.
  std::uint32_t remembered_ = 0;
  wire::Step last_step_ = 0;  ///< That is remembered, if one is.
  std::uint32_t said_count_ = 0;
  std::uint32_t said_ranks_ = 0;
  Said said_[shm::kPatterns] = {};
  Expected cycle_[kLongest] = {};
  Waits history_[kHistory] = {};
  wire::Rank ranks_[shm::kPatternRanks] = {};
};

}  // namespace idlewave::mpi::habits
