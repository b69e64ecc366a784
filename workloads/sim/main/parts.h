#pragma once
// What the ways to run a scenario share: reading it, its noise, an end by Ctrl-C, complaints.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/contention/phase_noise.h"
#include "workloads/sim/contention/run.h"
#include "workloads/sim/main/options.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim {

inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;

/// One line on stderr; returns `code`.
int complain(const std::string& message, int code);

/// Prints a result to stdout.
void tell(const std::string& result);

/// Set once SIGINT, SIGTERM or (without nohup) SIGHUP has come; from the first call on, they end a run with what it
/// has.
const std::atomic<bool>& interrupted();

struct Prepared {
  support::Scenario scenario;
  std::shared_ptr<const PhaseNoise> noise;  ///< Null: silent.
};
/// Reads the scenario with `more` settings behind those of the command line.
wire::Result<Prepared> prepare(const Options& options, const std::vector<std::string>& more = {});

/// Fails if there is less memory in the machine, or if this process may use less. `advice`: how to need less.
wire::Status check_memory(std::size_t bytes, const std::string& advice);

}  // namespace idlewave::sim
