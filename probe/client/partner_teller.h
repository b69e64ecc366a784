#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "probe/shm/partner_book.h"

namespace idlewave::client {

/// Follows whom a rank waits for, step by step, and says when a reader has to hear of it: where a step is not the one
/// that the cycle told last has at its place. A cycle of several steps is told when it was seen twice. One thread; no
/// allocation.
class PartnerTeller {
 public:
  void attach(shm::PartnerBook& book);

  /// The rank has said something since attach.
  bool is_used() const { return used_; }
  /// In the step that goes on.
  bool has_waited() const { return now_.count > 0 || !now_.is_sound; }

  /// The next wait of this step follows a pattern of the program's; false if that is not defined yet.
  bool wait(int pattern) {
    if (static_cast<unsigned>(pattern) >= shm::kPatterns || !(defined_ >> pattern & 1)) return false;
    note(pattern);
    return true;
  }
  /// The same, and what the pattern is. One that can't be kept makes a step of which nothing is said.
  void define(int pattern, std::span<const int> from, std::span<const int> to, std::uint32_t flags);

  /// Step `step` is over. The number of the cycle that it and those after it follow; nothing if that was told before.
  std::optional<std::uint32_t> end_step(wire::Step step) {
    const Waits& expected = cycle_[length_ == 1 ? 0 : static_cast<std::uint64_t>(step) % length_];
    const bool as_told = is_told_ && now_ == expected;
    if (as_told && watched_ == 0) [[likely]] {
      now_.clear();
      return std::nullopt;
    }
    return end_new_step(step, as_told);
  }
  /// What end_step gave last did not reach anybody.
  void forget_told() { is_told_ = false; }

 private:
  static constexpr std::uint32_t kSteps = 64;              ///< That differ.
  static constexpr std::uint32_t kHistory = 128;           ///< Steps in which a cycle is looked for.
  static constexpr std::uint32_t kLongest = kHistory / 2;  ///< Cycle, in steps.

  /// Patterns of a step in the order in which they were waited for first.
  struct Waits {
    std::uint64_t seen = 0;  ///< One bit a pattern.
    std::uint32_t count = 0;
    bool is_sound = true;  ///< Nothing is missing.
    std::uint8_t order[shm::kPatterns] = {};

    void clear() { seen = 0, count = 0, is_sound = true; }
    bool operator==(const Waits& other) const;
  };

  void note(int pattern) {
    if (now_.seen >> pattern & 1) return;
    now_.seen |= std::uint64_t{1} << pattern;
    now_.order[now_.count++] = static_cast<std::uint8_t>(pattern);
  }
  std::optional<std::uint32_t> end_new_step(wire::Step step, bool as_told);
  std::uint32_t number_of_step();
  std::uint32_t remember(wire::Step step);
  bool repeats(std::uint32_t period) const;
  std::uint32_t period() const;
  std::uint32_t follow(wire::Step step, std::uint32_t period);
  std::uint32_t number_of_cycle();
  std::uint8_t latest(std::uint32_t back) const { return history_[(remembered_ - 1 - back) % kHistory]; }

  shm::PartnerBook* book_ = nullptr;
  std::uint64_t defined_ = 0;  ///< One bit a pattern.
  bool used_ = false;
  bool is_told_ = false;
  std::uint32_t length_ = 1;   ///< Steps of cycle_, which was told last.
  std::uint32_t watched_ = 0;  ///< Steps for which it is still looked whether they come again.
  std::uint32_t ranks_ = 0;    ///< Of the book, that are taken, and so on.
  std::uint32_t cycles_ = 0;
  std::uint32_t symbols_ = 0;
  std::uint32_t steps_ = 0;
  std::uint64_t remembered_ = 0;
  wire::Step last_step_ = wire::kNoStep;
  Waits now_;
  Waits cycle_[kLongest] = {};
  Waits known_[kSteps] = {};
  std::uint8_t history_[kHistory] = {};
};

}  // namespace idlewave::client
