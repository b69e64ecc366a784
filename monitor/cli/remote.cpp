#include "monitor/cli/remote.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "monitor/cli/over.h"
#include "monitor/cli/verbs.h"
#include "monitor/link/greeting.h"
#include "monitor/process/groups.h"
#include "monitor/process/pipe.h"
#include "probe/signals/stop_signals.h"
#include "probe/wire/printable.h"

namespace idlewave::cli {
namespace {

using process::close_all;
using process::make_pipe;
using process::never_block;
using process::Pipe;
using RemoteClock = std::chrono::steady_clock;

/// A password may have to be typed, or a step to wait for its turn.
constexpr auto kPatienceForGreeting = std::chrono::seconds(120);
constexpr auto kPatienceForProgram = std::chrono::seconds(2);
constexpr std::size_t kMostSaid = 64u << 10;  ///< On standard error, while nobody takes it.
constexpr std::size_t kQuotedNoise = 200;
constexpr int kNotFound = 127;  ///< Exit code of shells for a program that is not there.

/// What to say of a text that nobody asked for; empty if there was none.
std::string quoted_noise(const std::string& text) {
  if (text.empty()) return "";
  const std::string_view begin =
      std::string_view(text).substr(0, text.find_last_not_of(" \r\n") + 1).substr(0, kQuotedNoise);
  return fmt::format(", but said '{}{}'", wire::printable(begin), text.size() > kQuotedNoise ? "..." : "");
}

}  // namespace

std::unique_ptr<Remote> Remote::reach(const std::string& over, const std::vector<std::string>& more, NotReached& why) {
  const auto words = command_over(over, more);
  if (!words) return why = {words.error().message, 2}, nullptr;
  std::signal(SIGPIPE, SIG_IGN);
  const Pipe to = make_pipe(), from = make_pipe(), error = make_pipe();
  auto started = process::Program::start(*words, {.environment = {},
                                                  .input_fd = to.read,
                                                  .output_fd = from.write,
                                                  .error_fd = error.write,
                                                  .is_part_of_us = true});
  close_all({to.read, from.write, error.write});
  if (const auto* failure = std::get_if<process::Program::NotStarted>(&started)) {
    close_all({to.write, from.read, error.read});
    return why = {failure->error.message, 2}, nullptr;
  }
  never_block(to.write);
  never_block(error.read);
  std::unique_ptr<Remote> remote(
      new Remote(over, std::get<process::Program>(started), from.read, to.write, error.read));
  const bool greeted = remote->greet(why);
  remote->print_lines();
  return greeted ? std::move(remote) : nullptr;
}

Remote::~Remote() {
  close_all({in_, out_});
  const auto collect = [this] { program_.exit_code(); };
  if (!process::gone_within(kPatienceForProgram, {program_.pid()}, collect))
    process::end_all({program_.pid()}, kPatienceForProgram, collect);
  print_lines();
  if (!said_.empty()) std::fprintf(stderr, "%s\n", wire::printable(said_).c_str());
  close_all({error_});
}

bool Remote::greet(NotReached& why) {
  const signals::StopSignals signals;
  const auto deadline = RemoteClock::now() + kPatienceForGreeting;
  while (!signals.received() && RemoteClock::now() < deadline) {
    std::array<pollfd, 3> polled{{{in_, POLLIN, 0}, {error_, POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), 1000);
    print_lines();
    if (polled[0].revents == 0) continue;
    if (const auto greeted = listen(why)) return *greeted;
  }
  if (signals.received())
    why = {fmt::format("'{}' was given up before it told of a session", name_),
           signals::exit_code_of(*signals.received())};
  else
    why = {fmt::format("'{}' told of no session within {} s{}", name_, kPatienceForGreeting.count(),
                       quoted_noise(heard_))};
  return false;
}

/// A byte, so that nothing of the stream is taken that begins behind the greeting. Nothing: there is more to come.
std::optional<bool> Remote::listen(NotReached& why) {
  char byte = 0;
  const ssize_t count = ::read(in_, &byte, 1);
  if (count < 0 && errno == EINTR) return std::nullopt;
  if (count <= 0) return why = early_end(), false;
  heard_ += byte;
  if (heard_.size() > link::kMostNoise)
    return why = {fmt::format("'{}' leads to no idlewave{}", name_, quoted_noise(heard_))}, false;
  auto greeted = byte == '\n' ? link::find_greeting(heard_) : std::nullopt;
  if (!greeted) return std::nullopt;
  if (!*greeted) return why = {fmt::format("'{}': {}", name_, greeted->error().message)}, false;
  greeting_ = (*greeted)->greeting;
  if (!(*greeted)->noise.empty())
    fail(fmt::format("'{}' told of a session{}", name_, quoted_noise((*greeted)->noise)), 0);
  return true;
}

NotReached Remote::early_end() {
  const auto collect = [this] { program_.exit_code(); };
  process::gone_within(kPatienceForProgram, {program_.pid()}, collect);
  const std::optional<int> code = program_.exit_code();
  const std::string how = code ? fmt::format("ended with exit code {}", *code) : "closed its output";
  const std::string hint =
      code == kNotFound
          ? fmt::format("; where idlewave is not found over there, name it: --over '{} /PATH/idlewave'", name_)
          : "";
  return {fmt::format("'{}' {} and told of no session{}{}", name_, how, quoted_noise(heard_), hint), code == 2 ? 2 : 1};
}

std::vector<std::string> Remote::take_lines() {
  read_error();
  std::vector<std::string> lines;
  for (std::size_t end = 0; (end = said_.find('\n')) != std::string::npos; said_.erase(0, end + 1))
    lines.push_back(said_.substr(0, end));
  return lines;
}

void Remote::read_error() {
  std::array<char, 4096> buffer;
  ssize_t count = 0;
  while (error_ >= 0 && (count = ::read(error_, buffer.data(), buffer.size())) > 0)
    said_.append(buffer.data(), std::size_t(count));
  if (said_.size() > kMostSaid) said_.erase(0, said_.size() - kMostSaid);
  if (count == 0 && error_ >= 0) ::close(std::exchange(error_, -1));
}

void Remote::print_lines() {
  for (const std::string& line : take_lines()) std::fprintf(stderr, "%s\n", wire::printable(line).c_str());
}

}  // namespace idlewave::cli
