#pragma once
// Core-bound work: divisions, each of which waits for the one before. Constant throughput, no memory traffic
// (afzal-2020, section 2.2).

#include <cstdint>

#include "probe/wire/vocabulary.h"

namespace idlewave::kernels {

/// So many dependent divisions; the result is returned only so that they can't be left out.
double divide_chain(std::uint64_t divisions);

/// How many divisions take that long on this core, when nobody disturbs: the best of several short trials (about 20 ms
/// in all).
std::uint64_t divisions_lasting(wire::Nanoseconds time);

}  // namespace idlewave::kernels
