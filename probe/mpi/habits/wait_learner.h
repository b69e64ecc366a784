#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "probe/mpi/habits/step_habit.h"
#include "probe/mpi/habits/wait_patterns.h"

namespace idlewave::mpi::habits {

/// Learns from a rank's messages whom its waits depend on, step by step, and says it once the steps repeat themselves,
/// in the terms of idlewave_partners. No allocation; one thread.
///
/// Waits between which nothing goes out are one: it makes no difference to anybody in which order, and by how many
/// calls, they were waited for. What the rank has sent before without waiting belongs to the wait that follows.
class WaitLearner {
 public:
  /// As WaitPatterns::learn_group.
  struct Group {
    std::span<const wire::Rank> ranks;
    std::uint32_t flags = 0;
  };

  /// A message is about to go out, or a receive that its sender waits for to begin.
  void post() {
    if (has_waited_) end_wait();
  }
  void send(wire::Rank to) { patterns_.add({to, Side::kTo}); }
  /// kFrom, kToWaiting or kToPerhaps: the rank has that behind it.
  void wait(Partner partner) {
    has_waited_ = true;
    patterns_.add(partner);
  }
  /// It has waited, and nobody knows for whom.
  void wait_unknown() { habit_.wait_unknown(); }
  /// A collective, or a part in one. `key`: a hash of whatever stands for group and part, the same for the same.
  /// `find_group()`: std::optional<Group>, asked the first time; nothing: not known.
  template <class FindGroup>
  void wait_for_group(std::uint64_t key, FindGroup find_group) {
    end_wait();
    habit_.wait(learn_group(key, find_group), patterns_);
  }
  /// One has been started, which will be waited for.
  template <class FindGroup>
  std::uint16_t learn_group(std::uint64_t key, FindGroup find_group) {
    const std::uint16_t known = patterns_.find(key);
    if (known != WaitPatterns::kUnknown) [[likely]]
      return known;
    const std::optional<Group> group = find_group();
    return group ? patterns_.learn_group(key, group->ranks, group->flags) : WaitPatterns::kUnknown;
  }
  /// The rank has one behind it that it had started: with what else it waited for since it last sent anything.
  void wait_for_started_group(std::uint64_t key) {
    has_waited_ = true;
    const std::uint16_t pattern = patterns_.find(key);
    if (pattern == WaitPatterns::kUnknown) return habit_.wait_unknown();
    std::uint32_t place = 0;
    while (place < group_count_ && groups_[place] < pattern) ++place;
    if (place < group_count_ && groups_[place] == pattern) return;
    if (group_count_ == kMostGroups) return habit_.wait_unknown();
    for (std::uint32_t i = group_count_++; i > place; --i) groups_[i] = groups_[i - 1];
    groups_[place] = pattern;
  }

  /// Step `step` is over. `tell(number, from, to, flags)`: for each wait that such a step has as a rule; the number is one
  /// for idlewave_partners. -1: nothing is known of it. Nothing is told before something has been known.
  template <class Tell>
  void end_step(wire::Step step, Tell tell) {
    end_wait();
    tell_waits(habit_.end_step(step, patterns_), tell);
  }
  /// Those before were none, and are counted anew.
  void forget_steps() {
    end_wait();
    habit_.forget();
  }
  /// What was before is no step.
  void skip() {
    end_wait();
    habit_.skip();
  }

  bool has_long_steps() const { return habit_.has_long_steps(); }

 private:
  [[gnu::noinline]] void end_wait() {
    has_waited_ = false;
    if (!patterns_.is_empty()) habit_.wait(patterns_.end_wait(), patterns_);
    if (group_count_ > 0) [[unlikely]]
      end_waits_for_groups();
  }
  void end_waits_for_groups() {
    for (std::uint32_t i = 0; i < group_count_; ++i) habit_.wait(groups_[i], patterns_);
    group_count_ = 0;
  }
  template <class Tell>
  void tell_waits(std::optional<std::span<const std::uint8_t>> waits, Tell& tell) const {
    if (!waits && habit_.was_found()) tell(-1, std::span<const wire::Rank>(), std::span<const wire::Rank>(), 0u);
    if (!waits) return;
    for (const std::uint8_t number : *waits) {
      const StepHabit::Said& said = habit_.said(number);
      tell(int{number}, habit_.sources_of(said), habit_.targets_of(said), said.flags);
    }
  }

  static constexpr std::uint32_t kMostGroups = 8;

  bool has_waited_ = false;  ///< Since the latest post.
  std::uint32_t group_count_ = 0;
  /// That were waited for since then: patterns, in the order of their numbers.
  std::uint16_t groups_[kMostGroups] = {};
  WaitPatterns patterns_;
  StepHabit habit_;
};

}  // namespace idlewave::mpi::habits
