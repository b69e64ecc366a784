#pragma once
// Where lessons, studies and sessions are found by their names.

#include <filesystem>
#include <string>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::cli {

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

/// Names of the sessions of this user that run on this node.
std::vector<std::string> running_sessions();

/// Endpoint of a session's agent on this node; `session` may be an endpoint already, or empty for the only one that
/// runs.
wire::Result<std::string> endpoint_of(const std::string& session);

}  // namespace idlewave::cli
