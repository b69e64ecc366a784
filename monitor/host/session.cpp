#include "monitor/host/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>

#include "monitor/host/reach.h"
#include "monitor/host/rendezvous.h"
#include "probe/outlet/mailbox/keys.h"
#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/session/trouble_log.h"

namespace idlewave::host {
namespace fs = std::filesystem;
namespace {

constexpr int kAgentPatience = 1500, kAgentLook = 20;  // ms; it stays half a second after its last rank

constexpr std::size_t kLinesOfEpitaph = 8;
constexpr std::size_t kTroublesTold = 8;
constexpr std::uintmax_t kMostResults = 64u << 20;

/// Its ranks would report to us as well.
bool has_agent_of_before(const std::string& name) {
  session::AgentRecord agent;
  for (int waited = 0; session::read_agent_record(name.c_str(), agent) && session::is_alive(agent);
       waited += kAgentLook) {
    if (waited >= kAgentPatience) return true;
    usleep(kAgentLook * 1000);
  }
  return false;
}

int new_file(const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); }

std::string last_lines(const std::string& path) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    lines.push_back(line);
    if (lines.size() > kLinesOfEpitaph) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text.append("  ").append(line).append("\n");
  return text;
}

/// What several nodes could not do for the same reason is told of the first.
bool says_the_same(const std::string& line, const std::string& other) {
  const std::size_t what = line.find(": ");
  return what != std::string::npos && other.ends_with(line.substr(what));
}

/// The log beside which it lies, there or not.
std::string without_link(std::string path) {
  return path.ends_with(session::kTroubleLink) ? path.substr(0, path.rfind(session::kTroubleLink)) : path;
}

void add_line(const std::string& line, std::vector<std::string>& lines, std::size_t& more) {
  const bool is_told =
      std::any_of(lines.begin(), lines.end(), [&](const auto& told) { return says_the_same(line, told); });
  if (is_told || lines.size() == kTroublesTold)
    ++more;
  else
    lines.push_back(line);
}

}  // namespace

std::vector<std::string> troubles_in(const std::string& log) {
  std::vector<std::string> lines;
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::error_code none;
  if (const fs::path link = fs::read_symlink(log + session::kTroubleLink, none); !none) lines.push_back(link.string());
  return lines;
}

wire::Result<Session> Session::open(const std::string& name, const std::string& listen,
                                    const std::vector<std::string>& peers) {
  auto folder = HeldFolder::take(name);
  if (!folder) return folder.error();
  if (has_agent_of_before(name))
    return wire::Error{
        fmt::format("a program of an earlier session '{}' still runs: choose another name (--session)", name)};
  Session session(std::move(*folder));
  link::LiveOptions options;
  options.session = name;
  options.endpoint = listen.empty() ? fmt::format("ipc://{}/monitor.sock", session.folder()) : listen;
  options.listen = true;
  if (options.endpoint.starts_with("tcp:")) {
    if (const wire::Status keys = session.make_keys(options); !keys) return keys.error();
  }
  auto link = link::open_live(options);
  if (!link) return link.error();
  session.endpoint_ = reachable_endpoint(link::bound_endpoint(**link), peers);
  session.link_ = std::move(*link);
  return session;
}

/// Over tcp others are there. Agents on other nodes are told where their key lies.
wire::Status Session::make_keys(link::LiveOptions& options) {
  const auto folder = make_rendezvous(name());
  if (!folder) return folder.error();
  const auto keys = link::make_session_keys(*folder);
  if (!keys) return keys.error();
  options.key = keys->server;
  rendezvous_ = *folder;
  return wire::ok();
}

Session::~Session() {
  if (name().empty()) return;  // It has been moved from.
  end_program();
  link_.reset();
  if (!rendezvous_.empty()) remove_rendezvous(name());
}

std::string Session::log_path() const { return folder() + "/program.log"; }
std::string Session::results_path() const { return folder() + "/results.json"; }

Environment Session::environment_of_ranks(bool allow_inject) const {
  Environment wanted = session_environment(name(), is_at_hand_ ? session::kAtHand : endpoint_);
  // Where launchers and logins hand on different environments, its place is the same on every node.
  if (const char* root = std::getenv("IDLEWAVE_DIR"); is_at_hand_ && root != nullptr) wanted["IDLEWAVE_DIR"] = root;
  if (allow_inject) wanted["IDLEWAVE_ALLOW_INJECT"] = "1";
  if (!likwid_group_.empty()) wanted["IDLEWAVE_LIKWID_GROUP"] = likwid_group_;
  if (!domain_curve_.empty()) wanted["IDLEWAVE_DOMAIN_CURVE"] = domain_curve_;
  if (!rendezvous_.empty()) wanted["IDLEWAVE_KEY"] = mailbox::key_files(rendezvous_).agents;
  return wanted;
}

std::vector<std::string> Session::agent_command(bool allow_inject, std::vector<std::string>& environment) const {
  const Environment wanted = environment_of_ranks(allow_inject);
  for (const auto& [name, value] : wanted) environment.push_back(name + "=" + value);
  environment.push_back("LD_PRELOAD=");  // What the user has is for the program.
  std::vector<std::string> command = {
      wanted.at("IDLEWAVE_AGENT"), "--session", name(), "--detach", "--connect", endpoint_};
  if (wanted.contains("IDLEWAVE_KEY")) command.insert(command.end(), {"--key", wanted.at("IDLEWAVE_KEY")});
  if (allow_inject) command.push_back("--allow-inject");
  return command;
}

std::vector<std::string> Session::prepare(std::vector<std::string> command, LauncherKind kind, bool allow_inject,
                                          const Preload& preload, std::vector<std::string>& environment) const {
  Environment wanted = environment_of_ranks(allow_inject);
  if (!preload.step_at.empty()) wanted["IDLEWAVE_STEP_AT"] = preload.step_at;
  // A launcher that is given no word says another thing than one that is given ours alone.
  if (kind != LauncherKind::kOther && command.size() == 1)
    return with_environment(std::move(command), LauncherKind::kOther, wanted, environment);
  if (!preload.library.empty()) command = with_preload(std::move(command), kind, preload.library, environment);
  return with_environment(std::move(command), kind, wanted, environment);
}

wire::Status Session::start(std::vector<std::string> command, LauncherKind kind, bool quiet, bool keep_results) {
  program_name_ = command.front();
  quiet_ = quiet;
  process::LaunchOptions options;
  command = prepare(std::move(command), kind, true, {}, options.environment);
  for (const auto& [variable, value] : demo_environment(kind)) options.environment.push_back(variable + "=" + value);
  options.output_fd = quiet ? new_file(log_path()) : dup(STDERR_FILENO);
  if (keep_results) options.results_fd = new_file(results_path());
  auto launched = process::launch(command, options);
  for (const int file : {options.output_fd, options.results_fd})
    if (file >= 0) close(file);
  if (!launched) return launched.error();
  program_.emplace(std::move(*launched));
  return wire::ok();
}

std::optional<int> Session::exit_code() { return program_ ? program_->exit_code() : std::optional<int>(0); }

std::string Session::results() const {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(results_path(), failed);
  if (failed || size > kMostResults) return "";
  std::ifstream file(results_path());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Session::epitaph() { return quiet_ ? last_lines(log_path()) : ""; }

void Session::end_program() {
  if (program_ && !program_->exit_code()) program_->end();
}

std::vector<std::string> Session::troubles(const std::vector<std::string>& told) const {
  std::vector<std::string> files = {folder() + "/trouble.log"};
  std::error_code failed;
  for (fs::directory_iterator entry(rendezvous_, failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->path().filename().string().starts_with("trouble.")) files.push_back(without_link(entry->path()));
  std::sort(files.begin() + 1, files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  std::vector<std::string> lines;
  std::size_t more = 0;
  for (const std::string& path : files)
    for (const std::string& line : troubles_in(path)) add_line(line, lines, more);
  for (const std::string& line : told) add_line(line, lines, more);
  if (more > 0) lines.push_back(fmt::format("and {} more of that kind", more));
  return lines;
}

}  // namespace idlewave::host
