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

/// Error: no file can be made at that path, as its folder is not there or may not be written to.
wire::Status check_folder_of(const std::string& path);

/// Scenario file of a lesson, by its name or, where `name` is one, by its path; the error lists the lessons that there
/// are.
wire::Result<std::filesystem::path> find_lesson(const std::string& name);
/// All lessons' files, by name; and those that can't be read.
std::vector<std::filesystem::path> all_lessons();
/// The same for scenarios that are a study; what holds a slash or ends with .toml is a file, which need not exist.
wire::Result<std::filesystem::path> find_study(const std::string& name);
std::vector<std::filesystem::path> all_studies();

/// A session of this user that runs, as far as can be seen from here.
struct RunningSession {
  std::string name;
  std::string endpoint;
  std::string key;      ///< Key file, for an endpoint over tcp.
  std::string program;  ///< Its command line; empty: not known.
  std::string label;    ///< The program in one word.
  std::string node;     ///< Of its host; empty: this one.
};
/// Those of this node, and those that have said in the user's home where they are (host/rendezvous.h).
std::vector<RunningSession> running_sessions();

/// `session` may be a name, or empty for the only one that runs; an endpoint is taken as it is.
wire::Result<RunningSession> find_session(const std::string& session);

}  // namespace idlewave::cli
