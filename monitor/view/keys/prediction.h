#pragma once
// What a delay will do, in words, before it is ordered.

#include <string>

#include "monitor/analysis/program/outlook.h"

namespace idlewave::view::keys {

/// "fronts meet at rank 25 in 400 ms, 1 rank a step", "fades near ranks 31 and 19 in 280 ms, 1 rank a step": how far the
/// wave of a delay comes, and when (theory/idle_wave.h), as far as that can be told. Empty before a step was measured.
std::string prediction(const analysis::program::Outlook& outlook, wire::Rank origin, wire::Rank ranks,
                       wire::Nanoseconds delay);

}  // namespace idlewave::view::keys
