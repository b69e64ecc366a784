#include "monitor/host/hosted_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "monitor/host/host_record.h"
#include "monitor/host/kept_output.h"
#include "monitor/process/children.h"
#include "monitor/process/exec.h"
#include "probe/session/agent_record.h"
#include "probe/session/directory.h"

namespace idlewave::host {
namespace {

/// Once it has said all. Somebody who watches and is stopped may hold it, and must not hold us.
constexpr auto kPatienceForHost = std::chrono::seconds(1);

/// ms. A host that says nothing for so long while it starts the program may have been stopped.
constexpr int kPatienceForWord = 200;
constexpr int kPatienceForEnd = 2000;  ///< The same, for one that has nothing more to say.

/// With what helps where somebody between us and the ranks keeps the library from them, whom we can't see.
constexpr const char* kNobodyHasSeenIt =
    "nobody has seen it call MPI_Init or idlewave_start; ranks that a script starts with an LD_PRELOAD of its own are "
    "seen if it says LD_PRELOAD=its.so:$LD_PRELOAD, those of another user or of a cleared environment (runuser, sudo, "
    "env -i) if 'idlewave run' stands behind that";

/// What follows `word`, if the message begins with it.
std::optional<std::string> after(const std::string& message, std::string_view word) {
  return message.starts_with(word) ? std::optional(message.substr(word.size())) : std::nullopt;
}

}  // namespace

HostedProgram::HostedProgram(process::Companion host, std::vector<pid_t> others, const HostOptions& options)
    : channel_(std::move(host.channel)),
      host_(host.pid),
      others_(std::move(others)),
      session_(options.session),
      name_(std::filesystem::path(options.command.front()).filename()),
      preload_(options.preload) {}

std::variant<HostedProgram, HostedProgram::Refusal> HostedProgram::start(const HostOptions& options) {
  // Should the host be killed, the kernel hands the program on to us, and its exit code is not lost.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<pid_t> others = process::children_of_ours();
  auto companion =
      process::start_companion("iw-host", [&options](process::Channel& channel) { return live(options, channel); });
  if (!companion) return Refusal{kOwnFailure, companion.error().message};
  HostedProgram program(std::move(*companion), std::move(others), options);
  if (auto refusal = program.wait_until_ready()) return std::move(*refusal);
  return program;
}

std::optional<HostedProgram::Refusal> HostedProgram::wait_until_ready() {
  for (;;) {
    pollfd readable{channel_.fd(), POLLIN, 0};
    if (poll(&readable, 1, kPatienceForWord) == 0) wake_host();
    const auto message = channel_.hear();
    if (channel_.is_over()) {
      // Its files are closed before its children are handed on.
      host_is_gone_ = waitpid(host_, nullptr, 0) == host_;
      const auto program = inherited();
      if (!program) return Refusal{kOwnFailure, "the process that was to start the program has died"};
      program_ = *program;
      return std::nullopt;
    }
    if (!message) continue;
    if (const auto refused = after(*message, message::kRefused)) {
      wait_until_gone();
      const std::size_t space = refused->find(' ');
      return Refusal{std::atoi(refused->c_str()), space == std::string::npos ? "" : refused->substr(space + 1)};
    }
    if (const auto listens = after(*message, message::kListens)) where_it_listens_ = *listens;
    const auto ready = after(*message, message::kReady);
    if (!ready) continue;
    program_ = std::atoi(ready->c_str());
    // Not by the host's record: a program that fills the disk may leave no room for that.
    output_fd_ = open(kept_output_path(session_).c_str(), O_RDONLY | O_CLOEXEC);
    return std::nullopt;
  }
}

/// The host, which removes what it has made before it ends. One that is stopped meanwhile does that when it goes on.
void HostedProgram::wait_until_gone() {
  pollfd readable{channel_.fd(), POLLIN, 0};
  while (!channel_.is_over() && poll(&readable, 1, kPatienceForEnd) != 0) channel_.hear();
}

/// The program, where the host was killed before it could say that this runs: the kernel has handed it on to us.
std::optional<pid_t> HostedProgram::inherited() const {
  for (const pid_t child : process::children_of_ours())
    if (child != host_ && std::ranges::find(others_, child) == others_.end()) return child;
  return std::nullopt;
}

std::string HostedProgram::why_unseen() const {
  const char* const disabled = std::getenv("IDLEWAVE_DISABLE");  // As ranks read it.
  if (disabled != nullptr && *disabled != '\0' && std::string_view(disabled) != "0")
    return "IDLEWAVE_DISABLE is set, so its ranks do not report";
  return loads_library() ? kNobodyHasSeenIt : preload_.why_not;
}

std::string HostedProgram::view_endpoint() const {
  char folder[session::kSessionPathLimit];
  return session::session_path(session_.c_str(), folder) ? fmt::format("ipc://{}/view.sock", folder) : std::string();
}

std::optional<int> HostedProgram::exit_code() const {
  return wait_status_ ? std::optional(process::exit_code_from(*wait_status_)) : std::nullopt;
}

int HostedProgram::ended_by() const {
  return !is_ended_here_ && wait_status_ && WIFSIGNALED(*wait_status_) ? WTERMSIG(*wait_status_) : 0;
}

void HostedProgram::listen() {
  // Of a process that is killed the threads end one by one, and its end of the channel with the last of them.
  const bool host_is_dead = session::process_start_time(host_) == 0;
  while (const auto message = channel_.hear()) {
    if (const auto status = after(*message, message::kEnded)) {
      char* end = nullptr;
      wait_status_ = int(std::strtol(status->c_str(), &end, 10));
      lived_ = wire::Nanoseconds(std::strtoll(end, nullptr, 10));
      host_said_all_ = true;
    }
    if (const auto status = after(*message, message::kCode)) program_status_ = std::atoi(status->c_str());
    if (const auto note = after(*message, message::kNote)) notes_.push_back(*note);
    if (const auto failure = after(*message, message::kFailure)) failures_.push_back(*failure);
  }
  host_was_killed_ = (host_is_dead || channel_.is_over()) && !host_said_all_;
  if (host_was_killed_) collect_what_the_host_left();
}

/// It is ours now, unless the host had collected it already.
void HostedProgram::collect_what_the_host_left() {
  collect();
  if (!wait_status_ && session::process_start_time(program_) == 0)
    wait_status_ = program_status_.value_or(W_EXITCODE(kOwnFailure, 0));
}

void HostedProgram::collected(pid_t pid, int wait_status) {
  host_is_gone_ = host_is_gone_ || pid == host_;
  if (pid == program_) wait_status_ = wait_status;
}

void HostedProgram::collect() {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) collected(pid, status);
}

void HostedProgram::part() {
  const auto deadline = std::chrono::steady_clock::now() + kPatienceForHost;
  for (collect(); !host_is_gone_ && std::chrono::steady_clock::now() < deadline; collect()) {
    wake_host();
    usleep(2000);
  }
}

/// One that somebody has stopped would keep the program's beginning and end, or what is meant for the program, to itself.
void HostedProgram::wake_host() const {
  if (!host_was_killed_) kill(host_, SIGCONT);
}

void HostedProgram::look_after_host() {
  if (wait_status_ || session::process_start_time(program_) != 0) return;
  wake_host();
}

void HostedProgram::pass_on(int signal) {
  if (has_ended()) return;
  wake_host();
  if (!host_was_killed_ && channel_.say(fmt::format("{}{}", message::kSignal, signal))) return;
  kill(program_, signal);
}

void HostedProgram::end() {
  if (has_ended()) return;
  is_ended_here_ = true;
  wake_host();
  if (channel_.say(message::kEnd)) return;
  kill(-program_, SIGTERM);
}

void HostedProgram::show_output() const {
  if (output_fd_ < 0) return;
  read_kept(output_fd_,
            [](std::string_view piece) { return std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size(); });
  std::fflush(stdout);
}

std::vector<std::string> HostedProgram::last_words() const {
  std::vector<std::string> words = notes_;
  if (const off_t dropped = output_fd_ < 0 ? 0 : first_kept(output_fd_); dropped > 0)
    words.push_back(
        fmt::format("of what it printed the first {:.0f} MB were not kept; --output FILE keeps all", dropped / 1e6));
  if (host_was_killed_)
    words.emplace_back("the process that recorded the session was killed; the program was not disturbed");
  words.insert(words.end(), failures_.begin(), failures_.end());
  return words;
}

int HostedProgram::code_to_pass_on() const {
  const int code = exit_code().value_or(kOwnFailure);
  return code == 0 && (host_was_killed_ || !failures_.empty()) ? kOwnFailure : code;
}

}  // namespace idlewave::host
