#pragma once
// The command line of `idlewave sim`.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/sweep/options.h"

namespace idlewave::sim {

using wire::Rank;
using wire::Step;

struct Options : sweep::Options {
  std::filesystem::path goal;    ///< A GOAL schedule instead of a scenario's program.
  std::string from;              ///< A session file whose program is simulated instead of a scenario.
  Rank extrapolate = 1;          ///< With goal or from: for so many times the ranks.
  std::filesystem::path output;  ///< With goal and extrapolate: the schedule that is run; empty: is not written.
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

  bool streams() const { return !listen.empty() || !connect.empty(); }
};

/// Exit code instead of options: 0 after --help and --version, 2 (with one line on stderr) if the line can't be taken.
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
};
Parsed parse(int argc, char** argv);

}  // namespace idlewave::sim
