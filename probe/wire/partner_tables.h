#pragma once
// Who waits for whom, as a roster carries it: patterns, cycles of patterns, and which of them each rank follows. Whole
// numbers in few bytes; see docs/wire-format.md.

#include <cstddef>
#include <span>
#include <vector>

#include "probe/wire/frame.h"

namespace idlewave::wire {

std::vector<std::byte> pack_patterns(std::span<const WaitPattern> patterns);
std::vector<std::byte> pack_cycles(std::span<const WaitCycle> cycles);
std::vector<std::byte> pack_followed(std::span<const RankInfo> ranks);

// False if the bytes are not just that, or go beyond a limit. Nothing is allocated but a small multiple of their number.
bool unpack_patterns(std::span<const std::byte> bytes, std::vector<WaitPattern>& patterns);
bool unpack_cycles(std::span<const std::byte> bytes, std::size_t patterns, std::vector<WaitCycle>& cycles);
/// Into the ranks that were read before.
bool unpack_followed(std::span<const std::byte> bytes, std::size_t cycles, std::vector<RankInfo>& ranks);

}  // namespace idlewave::wire
