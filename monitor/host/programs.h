#pragma once
// Programs: where ours lie, where the user's are found, and what is said of them.

#include <filesystem>
#include <optional>
#include <string>

namespace idlewave::host {

/// Folder of the running program; companions (idlewave-agent, iw-ring, ...) lie beside it.
std::filesystem::path program_folder();

/// A program in PATH (or as given, if it holds a slash); nothing if there is none that can be run.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// "mpirun ended with code 37", "mpirun ended with code 137, as by signal 9": from an exit code as shells say it. One
/// word of the program is enough.
std::string how_it_ended(const std::string& program, int code);

}  // namespace idlewave::host
