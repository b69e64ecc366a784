#pragma once

#include <cstdint>

#include "probe/wire/vocabulary.h"

namespace idlewave::mpi {

/// Finds the steps of a program that does not name them, from the calls that it waits in: the shortest sequence of
/// places in the program that has come four times running, and for sixteen calls: a few calls of one place in a row are
/// part of a step. A step begins where the place of that sequence is left that was new last, which in a loop is its last
/// call; its number is how often that place had been left before, so that ranks agree on it whenever each of them has
/// found the sequence. No allocation; one thread.
class StepFinder {
 public:
  /// A call that waits is over; `place`: where in the program it stands. The number of the step that begins now; kNoStep:
  /// none does.
  wire::Step leave(std::uintptr_t place) {
    if (anchor_ == place) [[likely]] {
      since_anchor_ = 0;
      return next_++;
    }
    if (anchor_ != 0 && places_[home_of(place)].address == place && ++since_anchor_ < kLongAbsence)
      return wire::kNoStep;
    return leave_other(place);
  }

 private:
  static constexpr std::uint32_t kPlaces = 512;    ///< That are told apart; a power of two.
  static constexpr std::uint32_t kHistory = 2048;  ///< Calls.
  static constexpr std::uint32_t kTimes = 4;       ///< In a row, before a sequence is believed.
  static constexpr std::uint32_t kFewestCalls = 16;
  static constexpr std::uint32_t kLongest = 256;       ///< Sequence, in calls.
  static constexpr std::uint32_t kLongAbsence = 4096;  ///< Calls without the anchor, before another is looked for.
  static_assert(kHistory >= kTimes * kLongest);

  struct Place {
    std::uintptr_t address = 0;
    std::uint32_t seen_as = 0;  ///< The how-manieth new place it was.
    std::uint64_t times = 0;    ///< It was left, while no anchor was known.
  };

  /// Where a place stands, unless another had been there before.
  static std::uint32_t home_of(std::uintptr_t place) {
    return static_cast<std::uint32_t>((place * 0x9e3779b97f4a7c15u) >> 32) % kPlaces;
  }
  wire::Step leave_other(std::uintptr_t place);
  wire::Step search(std::uint32_t slot);
  std::uint32_t number_of(std::uintptr_t place);
  std::uint32_t period() const;
  std::uint32_t latest(std::uint32_t back) const { return history_[(remembered_ - 1 - back) % kHistory]; }
  bool repeats(std::uint32_t period, std::uint32_t calls) const;
  void choose_anchor(std::uint32_t period);

  std::uintptr_t anchor_ = 0;  ///< A place; 0: none yet.
  std::uint32_t since_anchor_ = 0;
  wire::Step next_ = 0;
  std::uint32_t places_known_ = 0;
  std::uint64_t remembered_ = 0;
  Place places_[kPlaces] = {};
  std::uint16_t history_[kHistory] = {};  ///< Slots of places_.
};

}  // namespace idlewave::mpi
