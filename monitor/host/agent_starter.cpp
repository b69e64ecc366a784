#include "monitor/host/agent_starter.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "monitor/host/unix_listener.h"
#include "probe/session/files.h"

namespace idlewave::host {
namespace {

constexpr const char* kOfClocks = "0123456789:";

/// Of a line "CLOCKS PROGRAM"; nothing if it is none, or names another program than `ours`.
std::optional<std::string> clocks_for(const std::string& ours, const std::string& said) {
  const std::size_t end = said.find('\n'), blank = said.find(' ');
  if (end == std::string::npos || blank >= end) return std::nullopt;
  const std::string clocks = said.substr(0, blank), program = said.substr(blank + 1, end - blank - 1);
  const bool is_ours = program.empty() || program == ours;
  return is_ours && clocks.find_first_not_of(kOfClocks) == std::string::npos ? std::optional(clocks) : std::nullopt;
}

/// And does it itself.
bool has_given_up(int fd) {
  char more = 0;
  return recv(fd, &more, 1, MSG_PEEK) == 0;
}

std::vector<std::string> in_foreground(std::vector<std::string> command) {
  std::erase(command, "--detach");
  return command;
}

}  // namespace

AgentStarter::AgentStarter(const std::string& folder, std::vector<std::string> command,
                           std::vector<std::string> environment)
    : command_(std::move(command)),
      environment_(std::move(environment)),
      path_(folder + "/start.sock"),
      listener_(listen_at(path_)),
      deposits_(in_foreground(command_), environment_) {
  if (listener_ >= 0) descriptors_.add(listener_);
}

AgentStarter::~AgentStarter() {
  for (Asker& asker : askers_) {
    if (asker.agent && !asker.agent->exit_code()) kill(-asker.agent->pid(), SIGKILL);  // It has not begun in time.
    close(asker.fd);
  }
  if (listener_ < 0) return;
  close(listener_);
  unlink(path_.c_str());
}

void AgentStarter::serve() {
  for (int fd = 0; listener_ >= 0 && (fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;)
    if (session::is_of_our_user(fd))
      descriptors_.add(askers_.emplace_back(Asker{.fd = fd, .agent = {}}).fd);
    else
      close(fd);
  for (Asker& asker : askers_) asker.agent ? answer(asker) : hear(asker);
  std::erase_if(askers_, [](const Asker& asker) {
    if (asker.is_done) close(asker.fd);
    return asker.is_done;
  });
  deposits_.serve();
}

bool AgentStarter::has_told_what_is_left() {
  serve();  // The last word of who died may still lie in the socket.
  return deposits_.are_told();
}

/// What it says comes at once, and in one piece.
void AgentStarter::hear(Asker& asker) {
  Said said = hear_from(asker.fd);
  if (!said.is_there) return;
  descriptors_.remove(asker.fd);  // If it goes before its answer that is nobody's news.
  if (said.deposit) hold(std::move(*said.deposit));
  const auto clocks = clocks_for(command_[0], said.text);
  if (clocks && !has_given_up(asker.fd)) asker.agent = started(*clocks);
  asker.is_done = !asker.agent;
}

/// Not looked at any more once its descriptor is closed.
void AgentStarter::hold(Deposit deposit) {
  const int process = deposit.process.get(), agent = deposit.agent.get();
  if (!deposits_.take(std::move(deposit))) return;
  descriptors_.add(process);
  descriptors_.add(agent);
}

std::optional<process::Program> AgentStarter::started(const std::string& clocks) const {
  std::vector<std::string> command = command_;
  if (!clocks.empty()) command.insert(command.end(), {"--clock", clocks});
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  auto started = process::Program::start(
      command, {.environment = environment_, .input_fd = nothing, .output_fd = nothing, .error_fd = nothing});
  if (nothing >= 0) close(nothing);
  auto* const agent = std::get_if<process::Program>(&started);
  return agent != nullptr ? std::optional(*agent) : std::nullopt;
}

/// What has started the agent ends when that is there.
void AgentStarter::answer(Asker& asker) {
  const auto code = asker.agent->exit_code();
  if (!code) return;
  if (*code == 0) [[maybe_unused]]
    const ssize_t sent = send(asker.fd, "1", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  asker.is_done = true;
}

}  // namespace idlewave::host
