#pragma once
// With whom a rank had to do in one call, as an event says it. Header only; no dependency.

#include <cstdint>

#include "probe/wire/vocabulary.h"

namespace idlewave::wire {

/// Where the steps of a rank have more waits than cycles of patterns tell (frame.h): the value of the switch behind the call.
struct CallPartners {
  enum class Kind : std::uint8_t {
    kNotSaid = 0,
    kNobody = 1,           ///< It waited for nobody, and sent nothing.
    kAll = 2,              ///< For all ranks of the program.
    kFrom = 3,             ///< For a message of `first`.
    kFromTwo = 4,          ///< Of `first` and `second`.
    kToWaiting = 5,        ///< For the receive of `first`, to whom it had sent something.
    kSent = 6,             ///< It sent something to `first`, and may have waited for that one.
    kSentAndReceived = 7,  ///< It sent something to `first`, and waited for a message of `second`.
  };
  Kind kind = Kind::kNotSaid;
  Rank first = 0, second = 0;

  /// Three bits and 22 for each rank.
  constexpr std::uint64_t value() const {
    return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(first) << 3 |
           static_cast<std::uint64_t>(second) << 25;
  }
  static constexpr CallPartners of(std::uint64_t value) {
    const auto rank_at = [value](int bit) { return static_cast<Rank>(value >> bit & (kMaxRanks - 1)); };
    return {static_cast<Kind>(value & 7), rank_at(3), rank_at(25)};
  }
  friend constexpr bool operator==(const CallPartners&, const CallPartners&) = default;
};

}  // namespace idlewave::wire
