#pragma once
// Commands that lead to idlewave on another machine (--over, --agents-over).

#include <string>
#include <vector>

#include "monitor/host/far_nodes.h"
#include "probe/wire/result.h"

namespace idlewave::cli {

/// What stands before the words of somebody's command, and the program that it is to start over there, unless it ends with
/// one of that name.
struct OverFlag {
  std::string name = "--over";
  std::string program = "idlewave";
};

/// What is to be started: the words of `over`, taken apart as a shell does it, quotes and all, though commands in it are not
/// run; the program; and `more`. A word of ours is refused that a shell over there would not leave as it is.
wire::Result<std::vector<std::string>> command_over(const std::string& over, const std::vector<std::string>& more,
                                                    const OverFlag& flag = {});

/// How the agents of `nodes` are reached by `over`, in which "{}" is the node; without one, the node is its last word.
wire::Result<std::vector<host::FarNode>> far_nodes_over(const std::string& over, const std::vector<std::string>& nodes,
                                                        const std::string& session);

}  // namespace idlewave::cli
