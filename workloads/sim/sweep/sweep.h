#pragma once
// The same scenario with other values, many times.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/core/run.h"
#include "workloads/sim/sweep/options.h"

namespace idlewave::sim::sweep {

/// The run of one row, and how long it takes with the setting of --against.
struct Row : core::Run {
  double against = 0;  ///< Makespan, seconds; 0: not asked for.

  double speedup() const { return against > 0 ? makespan / against : 0; }
};

/// By number of the row; none: it was not begun.
using Rows = std::vector<std::optional<wire::Result<Row>>>;

/// What a sweep came to: exit code, and what goes to stdout or, one line, to stderr.
struct Outcome {
  int exit_code = 0;
  std::string text;
  std::string complaint;
  std::vector<Row> rows;  ///< Empty with a complaint.
};

/// One run for each combination of values, in order of rows, whoever makes them: `run_rows` does. Writes options.csv.
Outcome run_sweep(const Options& options, const std::function<Rows(std::size_t count)>& run_rows);

/// The settings of one row, `key=value` each: the last key changes fastest.
std::vector<std::string> settings_of(const std::vector<SweptKey>& keys, std::size_t number);

/// One row, and again with options.against; `stop` ends it with what it has. Any thread.
wire::Result<Row> run_row(const Options& options, std::size_t number, const std::atomic<bool>& stop);

/// All rows on this machine, by options.threads or as many threads as there are cores for this process.
Rows run_rows_here(const Options& options, std::size_t count, const std::atomic<bool>& stop);

}  // namespace idlewave::sim::sweep
