#pragma once
// A finished row of a sweep as bytes that one rank sends to another, to the last bit.

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/sim/sweep/row_pool.h"

namespace idlewave::sim::sweep {

std::vector<std::uint8_t> encode_row(const FinishedRow& row);

/// Of what encode_row gave on a rank of the same program.
FinishedRow decode_row(std::span<const std::uint8_t> message);

}  // namespace idlewave::sim::sweep
