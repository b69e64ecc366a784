#pragma once
// Phases of oscillators over time, as text: a line for each moment.

#include <span>
#include <string>

#include "monitor/theory/oscillators.h"
#include "monitor/theory/phase_order.h"

namespace idlewave::cli {

/// Of one of its moments.
theory::PhaseOrder order_of(const theory::PhaseMoment& moment);

/// Where the ranks lie, each against the mean of all: a digit is how many lie in a column, + more than nine. All lines have
/// one scale. In ASCII, at most 80 columns.
std::string phase_picture(std::span<const theory::PhaseMoment> course);

}  // namespace idlewave::cli
