#pragma once
// The process that stands beside a program started by `run`: it owns the launcher, the session's folder, the socket
// that agents connect to and the recording, and passes on what it hears to the screens, which come and go. It outlives
// whoever started it, and the program outlives it.

#include <optional>
#include <string>
#include <vector>

#include "monitor/host/far_nodes.h"
#include "monitor/host/launcher.h"
#include "monitor/host/preload.h"
#include "monitor/host/spread.h"
#include "monitor/process/companion.h"

namespace idlewave::host {

/// Exit code of `run` where something of ours failed and nothing of the program's did: no launcher gives it.
inline constexpr int kOwnFailure = 125;

struct HostOptions {
  std::vector<std::string> command;  ///< Launcher and program.
  LauncherKind launcher = LauncherKind::kOther;
  Preload preload;  ///< For ranks that know nothing of us.
  std::string session;
  std::string listen;  ///< Endpoint for the agents; empty: as `spread` needs it.
  Spread spread;       ///< Where ranks may be besides this node.
  /// Instead of any port: how agents of other nodes are reached. Nothing: they reach us.
  std::optional<std::vector<FarNode>> far_nodes;
  std::string record;  ///< Path; empty: don't.
  bool allow_inject = false;
  std::string domain_curve{};      ///< Of the nodes' domains, where ranks do not say; empty: not known.
  std::string likwid_group{};      ///< That agents count by; empty: one that has memory bandwidth.
  int output_fd = -1;              ///< File for what the program prints; -1: where ours goes.
  bool report_has_stdout = false;  ///< What the program prints there goes to standard error.
  std::vector<int> handed_down;    ///< Descriptors that are the program's alone, once it runs.
  bool on_screen = false;          ///< What would come from or go to a terminal does not, since a screen has it.
  bool starter_looks = true;       ///< It attaches to see what comes.
  bool in_background = false;      ///< Nothing comes from a terminal, since others read what is typed.
};

/// What host and starter say to each other, one message each: a word, and what belongs to it.
namespace message {
inline constexpr const char* kListens = "listens ";  ///< Host: for the user, how agents of other nodes reach it.
inline constexpr const char* kReady = "ready ";      ///< Host: the program runs. Its process number.
inline constexpr const char* kRefused = "refused ";  ///< Host: nothing runs. Exit code and reason.
inline constexpr const char* kFailure = "failure ";  ///< Host: something of ours failed; the program did not.
inline constexpr const char* kNote = "note ";        ///< Host: for the user, at the end.
inline constexpr const char* kCode = "code ";        ///< Host: the program has ended. Its wait status.
inline constexpr const char* kEnded = "ended ";      ///< Host: all is over. The program's wait status.
inline constexpr const char* kSignal = "signal ";    ///< Starter: for the program. Its number.
inline constexpr const char* kEnd = "end";           ///< Starter: end the program and all that it has started.
}  // namespace message

/// The life of the host, in a process of its own (process::start_companion). Returns when the program has ended and its
/// agents have said all.
int live(const HostOptions& options, process::Channel& starter);

}  // namespace idlewave::host
