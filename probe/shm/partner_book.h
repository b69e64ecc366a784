#pragma once
// What one rank says about whom it waits for, as it stands in its slot: patterns by the program's number, and cycles of
// them by the number that the rank's kPartners events carry. The rank only adds, and writes what makes an entry known
// last (release), so what the agent has once seen of it does not change; a rank that overwrites it deceives but itself.

#include <atomic>
#include <cstdint>

#include "probe/wire/vocabulary.h"

namespace idlewave::shm {

inline constexpr std::uint32_t kPatterns = 64;         ///< The program's numbers are below this.
inline constexpr std::uint32_t kPatternRanks = 4096;   ///< In all patterns of a rank.
inline constexpr std::uint32_t kCycles = 64;           ///< Numbered from 1.
inline constexpr std::uint32_t kCycleSymbols = 4096;   ///< In all cycles of a rank.
inline constexpr std::uint8_t kEndOfStep = kPatterns;  ///< In a cycle, behind the patterns of each of its steps.

struct PartnerBook {
  static constexpr int kRendezvous = 1, kCollective = 2, kUncertain = 4;  ///< Flags, as in probe.h.
  struct Pattern {
    std::uint32_t is_defined = 0;  ///< Written last.
    std::uint32_t flags = 0;       ///< Of idlewave_partners.
    std::uint32_t first = 0;       ///< Place in `ranks`: those it receives from, then those it sends to.
    std::uint32_t sources = 0;
    std::uint32_t targets = 0;
  };
  struct Cycle {
    std::uint32_t first = 0;    ///< Place in `symbols`.
    std::uint32_t symbols = 0;  ///< Written last; 0: not defined.
  };
  std::atomic<std::uint32_t> followed{0};  ///< Number of the cycle that was told last; 0: none.
  Pattern patterns[kPatterns] = {};
  Cycle cycles[kCycles] = {};  ///< Number n at n - 1.
  wire::Rank ranks[kPatternRanks] = {};
  std::uint8_t symbols[kCycleSymbols] = {};
};

}  // namespace idlewave::shm
