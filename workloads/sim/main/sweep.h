#pragma once
// The same scenario with other values, many times.

#include <functional>
#include <optional>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/contention/run.h"
#include "workloads/sim/main/options.h"

namespace idlewave::sim {

/// By number of the row; none: it was not begun.
using Rows = std::vector<std::optional<wire::Result<Run>>>;

/// One run for each combination of values; prints one row for each, in order, whoever made the runs. Exit code.
int run_sweep(const Options& options, const std::function<Rows(std::size_t count)>& run_rows);

/// The run of one row. Any thread.
wire::Result<Run> run_row(const Options& options, std::size_t number);

/// All rows on this machine, by options.threads or as many threads as there are cores for this process.
Rows run_rows_here(const Options& options, std::size_t count);

}  // namespace idlewave::sim
