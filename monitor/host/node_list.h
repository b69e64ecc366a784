#pragma once
// Names of nodes, as those who give them out write them.

#include <string>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::host {

inline constexpr std::size_t kMostNodes = 4096;  ///< As many senders as a monitor takes.

/// All names of a list as Slurm writes it, in its order: "n[1-2,07],m2,r[0-1]c[3-4]". Error: it is none, or names more than
/// kMostNodes.
wire::Result<std::vector<std::string>> expand_node_list(const std::string& list);

/// Of a file as mpirun reads it: the first word of each line, without "user@" before and ":4" behind it; '#' begins a
/// comment. Error: it can't be read, is no file, or names more than kMostNodes.
wire::Result<std::vector<std::string>> nodes_in_host_file(const std::string& path);

/// Letters, digits, '-', '_' and '.', not a dash first: a command takes it for what it is.
bool is_node_name(const std::string& name);

}  // namespace idlewave::host
