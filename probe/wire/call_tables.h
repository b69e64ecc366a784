#pragma once
// What ranks have done by function and by receiver, as an Events frame carries it. See docs/wire-format.md.

#include <cstddef>
#include <span>
#include <vector>

#include "probe/wire/frame.h"

namespace idlewave::wire {

std::vector<std::byte> pack_calls(std::span<const RankCalls> calls);

/// False if the bytes are not just that. Nothing is allocated but a small multiple of their number.
bool unpack_calls(std::span<const std::byte> bytes, std::vector<RankCalls>& calls);

/// RankCalls::unseen of each; empty if it is 0 in all.
std::vector<std::byte> pack_unseen(std::span<const RankCalls> calls);
/// False if the bytes are not just a number for each of `calls`.
bool unpack_unseen(std::span<const std::byte> bytes, std::vector<RankCalls>& calls);

}  // namespace idlewave::wire
