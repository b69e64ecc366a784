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
    kFromSeveral = 8,      ///< For messages of `senders`, three and more.
  };
  /// Ranks on either side of the one that says it, who can be among several: all neighbours on a grid of 4 x 4 x 4.
  static constexpr int kReach = 22;

  Kind kind = Kind::kNotSaid;
  Rank first = 0, second = 0;
  std::uint64_t senders = 0;  ///< Bit kReach + d: who has a number that is higher by d.

  /// Three bits and 22 for each rank; of several the three are 0, and one for each rank around.
  constexpr std::uint64_t value() const {
    if (kind == Kind::kFromSeveral) return senders << 3;
    return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(first) << 3 |
           static_cast<std::uint64_t>(second) << 25;
  }
  static constexpr CallPartners of(std::uint64_t value) {
    if ((value & 7) == 0 && value != 0) return {.kind = Kind::kFromSeveral, .senders = value >> 3};
    const auto rank_at = [value](int bit) { return static_cast<Rank>(value >> bit & (kMaxRanks - 1)); };
    return {static_cast<Kind>(value & 7), rank_at(3), rank_at(25), 0};
  }
  friend constexpr bool operator==(const CallPartners&, const CallPartners&) = default;
};

}  // namespace idlewave::wire
