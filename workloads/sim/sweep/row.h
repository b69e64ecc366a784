#pragma once
// One row of a sweep: a scenario with one value for each of its keys.

#include <atomic>
#include <cstddef>
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

/// The settings of one row, `key=value` each: the last key changes fastest.
std::vector<std::string> settings_of(const std::vector<SweptKey>& keys, std::size_t number);

/// One row, and again with options.against; `stop` ends it with what it has. Any thread.
wire::Result<Row> run_row(const Options& options, std::size_t number, const std::atomic<bool>& stop);

/// Error: why a row can't be run, without running it.
wire::Status check_row(const Options& options, std::size_t number);

}  // namespace idlewave::sim::sweep
