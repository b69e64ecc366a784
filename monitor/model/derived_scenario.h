#pragma once
// The program of a session as a scenario.

#include <string>

#include "monitor/analysis/program/program.h"

namespace idlewave::model {

/// As a scenario file (TOML). `source`: where the program was found. `factor`: for so many times the ranks, of which
/// r + j p, with p in the session, has the delays of r.
std::string scenario_of(const analysis::program::Program& program, const std::string& source, wire::Rank factor = 1);

}  // namespace idlewave::model
