#pragma once
// The rows of a sweep as text, JSON, CSV and curves.

#include <vector>

#include "workloads/sim/main/sweep.h"

namespace idlewave::sim {

/// To options.csv. Exit code.
int write_csv(const Options& options, const std::vector<Row>& rows);

/// To stdout, in the form that the options ask for.
void print(const Options& options, const std::vector<Row>& rows);

}  // namespace idlewave::sim
