#pragma once
// Round trips of questions for the time, as they stand in an events frame; see docs/wire-format.md.

#include <cstddef>
#include <span>
#include <vector>

#include "probe/wire/frame.h"

namespace idlewave::wire {

std::vector<std::byte> pack_round_trips(std::span<const RoundTrip> trips);
/// False if the bytes are damaged: cut, more than kMaxRoundTrips, or an answer before its question on one clock.
bool unpack_round_trips(std::span<const std::byte> bytes, std::vector<RoundTrip>& trips);

}  // namespace idlewave::wire
