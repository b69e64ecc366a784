#pragma once
// A calibration in words, as a picture, and as JSON. Pure.

#include <string>

#include "monitor/cli/calibration/calibration.h"
#include "monitor/cli/calibration/plot.h"

namespace idlewave::cli::calibration {

/// "triad (A = B + s C): b(1) 11.2 GB/s (11.1 to 11.3), b_sat ..., N_sc 6 (5 to 7) of 18 cores, ...": one line.
std::string summary_of(const LoopResult& loop);

/// The picture and three lines for each loop; `size` is that of the whole.
std::string text_of(const Calibration& calibration, const PlotSize& size);
/// Figures of each n, for what is no terminal.
std::string table_of(const Calibration& calibration);
std::string json_of(const Calibration& calibration);

}  // namespace idlewave::cli::calibration
