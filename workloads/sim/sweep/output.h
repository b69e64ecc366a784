#pragma once
// The rows of a sweep as text, JSON, CSV and curves.

#include <string>
#include <vector>

#include "workloads/sim/sweep/row.h"

namespace idlewave::sim::sweep {

std::string csv_of(const Options& options, const std::vector<Row>& rows);

/// To options.csv, a file.
wire::Status write_csv(const Options& options, const std::vector<Row>& rows);

/// In the form that the options ask for: lines, curves or JSON.
std::string text_of(const Options& options, const std::vector<Row>& rows);

}  // namespace idlewave::sim::sweep
