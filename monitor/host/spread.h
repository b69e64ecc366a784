#pragma once
// Whether a program runs and is looked at on this node alone, as far as the words of its command and the environment tell.

#include <string>
#include <vector>

#include "monitor/host/launcher.h"

namespace idlewave::host {

struct Spread {
  std::string why;                 ///< "this is Slurm job 17, of 4 nodes"; empty: all is on this node.
  std::vector<std::string> nodes;  ///< Some of the others, by name.
};

/// In a Slurm job, through srun from outside of one, or where hosts are named to mpirun.
Spread spread_of(const std::vector<std::string>& command, LauncherKind kind);

/// All nodes besides this one on which the program may have ranks, each once. Error: that can't be told before it runs.
wire::Result<std::vector<std::string>> other_nodes(const std::vector<std::string>& command, LauncherKind kind);

/// First and last name of the first item of a list as Slurm writes it: "n[1-4,7],m2" gives n1 and n7. Nothing where that
/// can't be told.
std::vector<std::string> ends_of_node_list(const std::string& list);

}  // namespace idlewave::host
