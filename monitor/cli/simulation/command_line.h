#pragma once
// The command line of `idlewave sim`: for each way to simulate one struct and one parser.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "probe/wire/vocabulary.h"
#include "probe/words/window.h"
#include "workloads/sim/sweep/options.h"

namespace idlewave::cli::simulation {

using SweepOptions = sim::sweep::Options;
using wire::Nanoseconds;
using wire::Rank;

/// A scenario from its beginning to its end, as fast as it goes.
struct ScenarioOptions {
  std::filesystem::path scenario;
  /// table.key=value, in order.
  std::vector<std::string> settings;
  bool without_delays = false;
  words::Fractions window;
  std::optional<wire::Step> step_start;
  /// Session file; empty: none.
  std::string record;
  std::string session = "simulation";
  /// Bytes for the history in which findings are made.
  std::uint64_t memory = 512u << 20;
  bool json = false;
};

/// How a run is streamed to those who watch it while it is made, as fast as the program would run.
struct StreamOptions {
  /// Endpoint for monitors that attach; empty: none.
  std::string listen;
  /// Endpoint of a monitor that listens; empty: none.
  std::string connect;
  /// Key file, for tcp: key.server to listen, key.agent to connect.
  std::string key;
  /// Empty: made up of the program's name.
  std::string session;
  bool allow_inject = false;
  bool realtime = false;
  std::optional<Nanoseconds> duration;
};

/// A scenario that is watched while it runs.
struct LiveOptions : StreamOptions {
  std::filesystem::path scenario;
  std::vector<std::string> settings;
  /// Those of the scenario are left to whoever watches.
  bool without_delays = false;
};

/// A GOAL schedule on the network, machine and noise of a scenario, or of settings alone.
struct ScheduleSource {
  std::filesystem::path schedule;
  std::filesystem::path scenario;
  std::vector<std::string> settings;
  /// On so many times the ranks; none: as it is.
  std::optional<Rank> extrapolate;
};

/// A schedule, as fast as it goes.
struct ScheduleOptions : ScheduleSource {
  /// Where the extrapolated schedule is written; empty: nowhere.
  std::filesystem::path output;
  /// Session file; empty: none.
  std::string record;
  std::string session = "simulation";
  /// Of what is found in the run.
  words::Fractions window;
  /// Bytes for the history in which it is found.
  std::uint64_t memory = 512u << 20;
  bool json = false;
};

/// A schedule that is watched while it runs.
struct LiveScheduleOptions : ScheduleSource, StreamOptions {};

/// The program of a recorded session.
struct SessionOptions {
  std::string recording;
  std::vector<std::string> settings;
  Rank extrapolate = 1;
  words::Fractions window;
  std::uint64_t memory = std::uint64_t{4} << 30;
  bool json = false;
};

using Call =
    std::variant<ScenarioOptions, SweepOptions, LiveOptions, ScheduleOptions, LiveScheduleOptions, SessionOptions>;

/// Exit code instead of a call: 0 after --help and --version, 2 (with one line on stderr) if the line can't be taken.
struct Parsed {
  std::optional<Call> call;
  int exit_code = 0;
};
Parsed parse(int argc, char** argv);

/// The command line of `idlewave study`: what a scenario's [study] sweeps.
struct StudyOptions {
  std::string name = "noise-and-collectives";
  bool list = false;
  std::vector<std::string> settings;
  /// Path; "-": stdout; empty: none.
  std::string csv;
  bool json = false;
};
struct ParsedStudy {
  std::optional<StudyOptions> options;
  int exit_code = 0;
};
ParsedStudy parse_study(int argc, char** argv);

}  // namespace idlewave::cli::simulation
