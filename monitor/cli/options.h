#pragma once
// What each verb was asked to do. Plain values, filled by arguments.cpp.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "monitor/cli/reporting/report.h"
#include "monitor/host/launcher.h"
#include "monitor/view/paint/canvas.h"
#include "probe/wire/frame.h"

namespace idlewave::cli {

using wire::Nanoseconds;
using wire::Rank;

/// Shared by the verbs that watch a session.
struct WatchOptions {
  std::uint64_t memory = 512u << 20;        ///< Bytes for the timeline.
  std::string record;                       ///< Path; empty: don't.
  bool headless = false;                    ///< Without a terminal.
  std::optional<Nanoseconds> headless_for;  ///< At most so long; unset: until the session ends.
  bool json = false;                        ///< Print the report when it is over.
  bool without_screen = false;              ///< Without a terminal no last screen is printed either.
  words::Fractions window;                  ///< Of the report.
  view::paint::Size size{120, 40};          ///< Of the last screen when there is no terminal.
};

struct DemoOptions : WatchOptions {
  std::string lesson = "memory-bound";
  bool list = false;
  std::vector<std::string> machine;  ///< Settings of a machine file; empty: the lesson's own machine.
  bool simulated = false;            ///< Ranks of `idlewave sim` instead of MPI ranks.
  std::optional<Rank> ranks;
  std::optional<Rank> ranks_per_domain;
  std::optional<std::int64_t> steps;
  std::string answers;  ///< File for what was answered; empty: none.
};

struct RunOptions : WatchOptions {
  std::vector<std::string> command;  ///< Launcher and program.
  host::MpiChoice mpi = host::MpiChoice::kAuto;
  std::string listen;  ///< Endpoint for the agents; empty: a socket of this node, or tcp where ranks are elsewhere.
  std::string agents_over;  ///< Command that leads to other nodes, whose agents reach no port here; empty: they do.
  std::string session;      ///< Empty: made up.
  std::string output;       ///< File for what the program prints; empty: where ours goes.
  std::string report;       ///< File for the report as JSON; empty: none.
  std::string step_at;      ///< MPI function with which a step ends; empty: steps are found.
  bool no_preload = false;
  bool allow_inject = false;
  std::string domain_curve;  ///< Of a machine file, as words::DomainCurve; empty: what ranks say is all that is known.
  std::string likwid_group;  ///< That agents count by; empty: one that has memory bandwidth.
  bool selftest = false;     ///< Instead: runs alone and as many watched.
  int turns = 5;             ///< So many of each.
};

struct AttachOptions : WatchOptions {
  std::string endpoint;  ///< An endpoint, or the name of a session.
  std::string key;       ///< Key file, for an endpoint over tcp.
  std::string over;      ///< Command that leads to where both are; empty: here.
  bool view_only = false;
};

struct RecordOptions {
  std::string path;
  std::string session;               ///< Of the program that is started; without one, the session that is joined.
  std::string over;                  ///< Command that leads to the session that is joined; empty: it is here.
  std::string agents_over;           ///< As of RunOptions.
  std::vector<std::string> command;  ///< Launcher and program; empty: one that runs is joined.
};

struct CarryOptions {
  std::string session;  ///< Name or endpoint; empty: the only one on this node.
  std::string key;      ///< Key file, for an endpoint over tcp.
  bool view_only = false;
  bool agents = false;    ///< Instead: of this node's agents, to the session's host on another node.
  std::string directory;  ///< Then: what IDLEWAVE_DIR is to be; empty: as it is.
};

struct ReplayOptions : WatchOptions {
  std::string path;
  double speed = 1;
  Nanoseconds from{};  ///< Session time.
  bool once = false;
  std::optional<Nanoseconds> at;  ///< Session time, with once; unset: the end.
  bool colour = false;            ///< With once: escape sequences for 256 colours.
  bool ghost = false;             ///< The map begins with it.
};

struct InjectOptions {
  std::string session;    ///< Name or endpoint; empty: the only one on this node.
  std::string key;        ///< Key file, for an endpoint over tcp.
  std::string over;       ///< Command that leads to where both are; empty: here.
  wire::Command command;  ///< Without id.
};

struct TheoryOptions {
  std::string name;                          ///< Empty: list them.
  std::map<std::string, std::string> given;  ///< By key.
  bool json = false;
};

struct FileOptions : WatchOptions {
  std::string path;
  bool check = false;  ///< Exit with 0 only if the recording is complete.
  bool ghost = false;  ///< The report has it.
};

}  // namespace idlewave::cli
