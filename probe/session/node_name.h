#pragma once

#include <cstddef>

namespace idlewave::session {

inline constexpr std::size_t kNodeNameLimit = 128;  ///< With its NUL.

/// What this node is called: as Slurm calls it where it says so (SLURMD_NODENAME), since several of its nodes may be one
/// machine; else as the machine calls itself. No allocation, no exception.
void node_name(char (&out)[kNodeNameLimit]);

}  // namespace idlewave::session
