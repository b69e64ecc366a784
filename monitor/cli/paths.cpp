#include "monitor/cli/paths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "monitor/cli/verbs.h"
#include "monitor/host/host_record.h"
#include "monitor/host/programs.h"
#include "monitor/host/rendezvous.h"
#include "probe/arguments/suggestion.h"
#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli {
namespace fs = std::filesystem;
namespace {

fs::path scenarios_folder() {
  std::error_code ignored;
  return fs::weakly_canonical(host::program_folder() / "../share/idlewave/scenarios", ignored);
}

/// By name.
std::vector<fs::path> all_scenarios() {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (fs::directory_iterator entry(scenarios_folder(), ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    if (entry->path().extension() == ".toml") paths.push_back(entry->path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// A file of the user's own rather than the name of one that lies beside the programs.
bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos || fs::path(name).extension() == ".toml";
}

wire::Result<fs::path> find(const std::vector<fs::path>& paths, const char* what, const std::string& name) {
  std::vector<std::string> names;
  for (const fs::path& path : paths) {
    if (path.stem() == name) return path;
    names.push_back(path.stem());
  }
  return wire::Error{fmt::format("there is no {} '{}'{}; there are: {}", what, name,
                                 arguments::did_you_mean(name, names), fmt::join(names, ", "))};
}

bool is_known(const std::vector<RunningSession>& sessions, const std::string& name) {
  return std::any_of(sessions.begin(), sessions.end(), [&](const auto& session) { return session.name == name; });
}

}  // namespace

bool is_companion(const std::string& verb) {
  return !verb.empty() && verb.find('/') == std::string::npos &&
         host::find_program(host::program_folder() / ("idlewave-" + verb));
}

int run_companion(char** argv) {
  const std::string path = host::program_folder() / (std::string("idlewave-") + argv[0]);
  execv(path.c_str(), argv);
  return fail(fmt::format("{} could not be started: {}", path, std::strerror(errno)), 1);
}

std::vector<fs::path> all_lessons() {
  std::vector<fs::path> paths = all_scenarios();
  std::erase_if(paths, [](const fs::path& path) {
    const auto scenario = support::load_lesson(path);
    return scenario && !scenario->lesson;
  });
  return paths;
}

std::vector<fs::path> all_studies() {
  std::vector<fs::path> paths = all_scenarios();
  std::erase_if(paths, [](const fs::path& path) {
    const auto scenario = support::load_scenario(path);
    return !scenario || !scenario->study;
  });
  return paths;
}

wire::Status check_folder_of(const std::string& path) {
  std::error_code failed;
  const fs::path folder = fs::absolute(path, failed).parent_path();
  if (access(folder.c_str(), W_OK) == 0) return wire::ok();
  return wire::Error{fmt::format("{}: can't be written: {}", path, std::strerror(errno))};
}

wire::Result<fs::path> find_lesson(const std::string& name) {
  return is_path(name) ? fs::path(name) : find(all_lessons(), "lesson", name);
}

wire::Result<fs::path> find_study(const std::string& name) {
  return is_path(name) ? fs::path(name) : find(all_studies(), "study", name);
}

/// A session's host knows all of its nodes, and what was before; without one, this node's agent is asked.
std::vector<RunningSession> running_sessions() {
  std::vector<RunningSession> running;
  for (const std::string& name : host::hosted_sessions()) {
    const auto record = host::read_host_record(name).value_or(host::HostRecord());
    running.push_back({.name = name, .endpoint = record.endpoint, .program = record.program, .label = record.label});
  }
  for (const host::Announced& found : host::announced_sessions())
    if (!is_known(running, found.session))
      running.push_back(
          {found.session, found.host.endpoint, found.key, found.host.program, found.host.label, found.node});
  session::for_each_live_session(
      [](const char* name, const session::AgentRecord& record, void* context) {
        auto& known = *static_cast<std::vector<RunningSession>*>(context);
        if (!is_known(known, name)) known.push_back({.name = name, .endpoint = record.endpoint, .label = name});
      },
      &running);
  return running;
}

wire::Result<RunningSession> find_session(const std::string& session) {
  if (session.find("://") != std::string::npos) return RunningSession{.endpoint = session, .label = session};
  const std::vector<RunningSession> running = running_sessions();
  if (running.empty())
    return wire::Error{
        "no session runs on this node; start one with 'idlewave run' or 'idlewave demo', or name an endpoint"};
  if (session.empty() && running.size() == 1) return running.front();
  std::vector<std::string> names;
  for (const RunningSession& each : running) {
    if (each.name == session) return each;
    names.push_back(each.name);
  }
  if (session.empty())
    return wire::Error{fmt::format("several sessions run on this node; say which: {}", fmt::join(names, ", "))};
  return wire::Error{fmt::format("no session '{}' runs on this node{}; there are: {}", session,
                                 arguments::did_you_mean(session, names), fmt::join(names, ", "))};
}

}  // namespace idlewave::cli
