#pragma once
// The same scenario with other values, many times.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "workloads/sim/sweep/options.h"
#include "workloads/sim/sweep/row.h"

namespace idlewave::sim::sweep {

/// What a sweep came to: exit code, and what goes to stdout or, one line, to stderr.
struct Outcome {
  int exit_code = 0;
  std::string text;
  std::string complaint;
  std::vector<Row> rows;  ///< Empty with a complaint.
};

/// One run for each combination of values, in order of rows, whoever makes them: `run_rows` does. Writes options.csv.
Outcome run_sweep(const Options& options, const std::function<Rows(std::size_t count)>& run_rows);

/// All rows on this machine, by options.threads or as many threads as there are cores for this process.
Rows run_rows_here(const Options& options, std::size_t count, const std::atomic<bool>& stop);

}  // namespace idlewave::sim::sweep
