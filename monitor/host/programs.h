#pragma once
// Programs: where ours lie, where the user's are found, and what is said of them.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace idlewave::host {

/// Folder of the running program; companions (idlewave-agent, iw-ring, ...) lie beside it.
std::filesystem::path program_folder();

/// A program in PATH (or as given, if it holds a slash); nothing if there is none that can be run.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// The flags of a launcher that begin at `from` end here: what follows, from the first word on that is a program, is not
/// ours to read.
std::size_t end_of_flags(const std::vector<std::string>& command, std::size_t from);

/// "mpirun -n 4 ./a.out --x" is best named after its program: the first word that is no launcher's and can be run, else
/// the launcher.
std::string program_label(const std::vector<std::string>& command);

/// "mpirun ended with code 37", "mpirun ended with code 137, as by signal 9": from an exit code as shells say it. One
/// word of the program is enough.
std::string how_it_ended(const std::string& program, int code);

}  // namespace idlewave::host
