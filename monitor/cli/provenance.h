#pragma once
// Who recorded: version, machine and command line for the header of a session file.

#include <string>

namespace idlewave::cli {

std::string machine_description();  ///< Host name, processor, number of processors.
std::string own_command_line();

}  // namespace idlewave::cli
