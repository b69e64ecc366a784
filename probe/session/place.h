#pragma once
// Whose a session's folder is where the root is shared with other nodes, or with containers (directory.h).

#include <cstdint>

namespace idlewave::session {

/// It has a place, and that is not ours.
bool belongs_elsewhere(const char* folder);

/// The same of one that is this machine's as it runs now, and another table of processes', as a container's: what its locks
/// say is true, and what numbers of processes mean is not known.
bool belongs_to_other_processes(const char* folder);

/// Makes the folder ours unless it belongs to some place already.
void settle_place(const char* folder);

/// Of this place, for the name of a folder that is ours where another place has the plain one.
std::uint32_t digest_of_this_place();

}  // namespace idlewave::session
