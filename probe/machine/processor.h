#pragma once
// What machine this is, for the record of a session.

#include <string>

namespace idlewave::machine {

/// "AMD EPYC 7763 64-Core Processor, 128 processors": the model of the first one that `facts`, a file as the kernel
/// writes it, knows by name, and how many are online.
std::string describe_processors(const char* facts = "/proc/cpuinfo");

}  // namespace idlewave::machine
