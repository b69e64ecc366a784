#pragma once
// What is swept: the command line of a sweep.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/core/run.h"

namespace idlewave::arguments {
class CommandLine;
}

namespace idlewave::sim::sweep {

/// One key of a scenario and the values that it takes in turn, as they stand behind `--set`.
struct SweptKey {
  std::string key;
  std::vector<std::string> values;
};

struct Options {
  std::filesystem::path scenario;
  std::vector<std::string> settings;  ///< table.key=value, in order.
  std::vector<SweptKey> sweep;        ///< Each combination is a run; the last key changes fastest.
  std::optional<int> threads;         ///< None: as many as there are cores.
  std::string against;                ///< Each run also with this setting, and how much faster that is.
  std::string csv;                    ///< Where the rows go as CSV; "-": stdout; empty: nowhere.
  bool chart = false;                 ///< Draw the speed-up of `against` over the first numeric key of the sweep.
  bool study = false;                 ///< Sweep, `against` and chart as the scenario's [study] has them.
  core::Fractions window;
  bool without_delays = false;  ///< Those of the scenario are left out.
  bool json = false;
};

/// `--set`, and `--machine`, which comes before all of them: both end up in `settings`.
void add_settings(arguments::CommandLine& app, std::vector<std::string>& settings);

/// Those of a sweep, among others of the same command line.
void add_options(arguments::CommandLine& app, Options& options);

/// Error: what does not go together, "--flag: why".
wire::Status check(const Options& options);

/// The command line of a sweep alone. Instead of options: what --help and --version say, or what can't be taken.
struct Parsed {
  std::optional<Options> options;
  std::string text;       ///< For stdout.
  std::string complaint;  ///< For stderr; empty: none.
};
Parsed parse(int argc, char** argv);

/// "machine.ranks_per_domain=1..10" or "delay.duration=0.6s,1.2s".
wire::Result<SweptKey> parse_sweep(const std::string& text);

/// Fills in what the scenario's [study] says. Error: it has none, or one that can't be taken.
wire::Status take_study(Options& options);

}  // namespace idlewave::sim::sweep
