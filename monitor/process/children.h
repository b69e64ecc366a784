#pragma once
// Which processes are children of this one.

#include <sys/types.h>

#include <vector>

namespace idlewave::process {

/// Of the main thread, as the kernel lists them; empty where it doesn't. At the start of a program that a shell became by
/// `exec` these are the shell's.
std::vector<pid_t> children_of_ours();

}  // namespace idlewave::process
