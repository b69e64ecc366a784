#pragma once
// The command line of `idlewave sim`.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/contention/run.h"

namespace idlewave::sim {

/// One key of a scenario and the values that it takes in turn, as they stand behind `--set`.
struct SweptKey {
  std::string key;
  std::vector<std::string> values;
};

struct Options {
  std::filesystem::path scenario;
  std::vector<std::string> settings;  ///< table.key=value, in order.
  std::vector<SweptKey> sweep;        ///< Each combination is a run; the last key changes fastest.
  std::optional<int> threads;         ///< For a sweep; none: as many as there are cores.
  std::string against;                ///< With a sweep: each run also with this setting, and how much faster that is.
  std::string csv;                    ///< Where the rows of a sweep go as CSV; "-": stdout; empty: nowhere.
  bool chart = false;                 ///< Draw the speed-up of `against` over the first numeric key of the sweep.
  bool study = false;                 ///< Sweep, `against` and chart as the scenario's [study] has them.
  std::filesystem::path goal;         ///< A GOAL schedule instead of a scenario's program.
  std::string from;                   ///< A session file whose program is simulated instead of a scenario.
  Rank extrapolate = 1;               ///< With goal or from: for so many times the ranks.
  std::filesystem::path output;       ///< With goal and extrapolate: the schedule that is run; empty: is not written.
  Fractions window;
  std::optional<Step> step_start;
  std::string record;   ///< Session file; empty: none.
  std::string listen;   ///< Endpoint for monitors that attach; empty: none.
  std::string connect;  ///< Endpoint of a monitor that listens; empty: none.
  std::string key;      ///< Key file, for tcp: key.server to listen, key.agent to connect.
  bool allow_inject = false;
  std::string session = "simulation";
  bool realtime = false;
  std::optional<wire::Nanoseconds> duration;  ///< With realtime: ends after so long.
  bool without_delays = false;                ///< Those of the scenario are left to an operator.
  bool json = false;

  bool streams() const { return !listen.empty() || !connect.empty(); }
};

/// Exit code instead of options: 0 after --help and --version, 2 (with one line on stderr) if the line can't be taken.
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
};
Parsed parse(int argc, char** argv);

/// "machine.ranks_per_domain=1..10" or "delay.duration=0.6s,1.2s".
wire::Result<SweptKey> parse_sweep(const std::string& text);

}  // namespace idlewave::sim
