#pragma once
// How a session that runs is joined: over its socket, or over a command that leads to where it is.

#include <memory>
#include <string>
#include <variant>

#include "monitor/cli/remote.h"
#include "monitor/link/link.h"

namespace idlewave::cli {

struct JoinOptions {
  std::string session;  ///< Name or endpoint; with `over`, as it is called over there.
  std::string key;      ///< Key file, likewise.
  std::string over;     ///< Command that leads there; empty: none is needed.
  bool view_only = false;
};

struct Joined {
  std::unique_ptr<Remote> remote;  ///< Outlives the link; null where none was needed.
  std::unique_ptr<link::Link> link;
  std::string session;   ///< Its name; empty: that of the first sender.
  std::string label;     ///< The program in one word.
  std::string endpoint;  ///< Where it is, for messages.
};
std::variant<Joined, NotReached> join(const JoinOptions& options);

}  // namespace idlewave::cli
