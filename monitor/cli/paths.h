#pragma once
// Where the parts of idlewave lie, and where those of a session.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::cli {

/// Folder of the running program; companions (idlewave-agent, iw-ring, ...) lie beside it.
std::filesystem::path program_folder();

/// True if `verb` is another program's: idlewave-<verb> lies beside this one.
bool is_companion(const std::string& verb);
/// Becomes idlewave-<argv[0]>. Returns only if that fails.
int run_companion(char** argv);

/// Scenario file of a lesson, by its name or, where `name` is one, by its path; the error lists the lessons that there
/// are.
wire::Result<std::filesystem::path> find_lesson(const std::string& name);
/// All lessons' files, by name; and those that can't be read.
std::vector<std::filesystem::path> all_lessons();
/// The same for scenarios that are a study; what holds a slash or ends with .toml is a file, which need not exist.
wire::Result<std::filesystem::path> find_study(const std::string& name);
std::vector<std::filesystem::path> all_studies();

/// A program in PATH (or as given, if it holds a slash); nothing if there is none that can be run.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// Names of the sessions of this user that run on this node.
std::vector<std::string> running_sessions();

/// "mpirun -n 4 ./a.out --x" is best named after its program: the first word that is no launcher's and can be run, else
/// the launcher.
std::string program_label(const std::vector<std::string>& command);

/// Endpoint of a session's agent on this node; `session` may be an endpoint already, or empty for the only one that
/// runs.
wire::Result<std::string> endpoint_of(const std::string& session);

/// A session's name that is not in use: "<stem>-<pid>".
std::string new_session_name(const std::string& stem);

/// `stem` + ".iw", or with -2, -3, ... before the dot if it exists.
std::string free_file_name(const std::string& stem, const std::string& extension);

}  // namespace idlewave::cli
