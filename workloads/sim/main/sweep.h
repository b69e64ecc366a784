#pragma once
// The same scenario with other values, many times.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/contention/run.h"
#include "workloads/sim/main/options.h"

namespace idlewave::sim {

/// The run of one row, and how long it takes with the setting of --against.
struct Row : Run {
  double against = 0;  ///< Makespan, seconds; 0: not asked for.

  double speedup() const { return against > 0 ? makespan / against : 0; }
};

/// By number of the row; none: it was not begun.
using Rows = std::vector<std::optional<wire::Result<Row>>>;

/// Fills in what the scenario's [study] says. Error: it has none, or one that can't be taken.
wire::Status take_study(Options& options);

/// One run for each combination of values; prints one row for each, in order, whoever made the runs. Exit code.
int run_sweep(const Options& options, const std::function<Rows(std::size_t count)>& run_rows);

/// The settings of one row, `key=value` each: the last key changes fastest.
std::vector<std::string> settings_of(const std::vector<SweptKey>& keys, std::size_t number);

/// One row, and again with options.against. Any thread.
wire::Result<Row> run_row(const Options& options, std::size_t number);

/// All rows on this machine, by options.threads or as many threads as there are cores for this process.
Rows run_rows_here(const Options& options, std::size_t count);

}  // namespace idlewave::sim
