#pragma once
// What the tests of the agent are played with: a session folder, real agent processes, real ranks, and a real monitor's
// link.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "monitor/link/link.h"
#include "probe/session/agent_record.h"
#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "tests/remove_folder.h"

namespace idlewave::test {

using wire::Event;
using wire::EventKind;
using wire::LaneId;
using wire::Nanoseconds;
using wire::Phase;
using wire::Rank;

inline Nanoseconds now() {
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

/// Looks until `holds()`; false after a minute, which only a hang takes.
template <class Condition>
bool eventually(Condition holds) {
  const Nanoseconds limit = now() + std::chrono::minutes(1);
  while (!holds()) {
    if (now() > limit) return false;
    usleep(2000);
  }
  return true;
}

/// A root of session folders that is gone with its owner.
class SessionRoot {
 public:
  SessionRoot() {
    if (mkdtemp(path_) == nullptr) std::abort();
    setenv("IDLEWAVE_DIR", path_, 1);
    setenv("IDLEWAVE_AGENT", IDLEWAVE_AGENT_PROGRAM, 1);
    setenv("IDLEWAVE_SESSION", "play", 1);
    for (const char* name : {"IDLEWAVE_ENDPOINT", "IDLEWAVE_KEY", "IDLEWAVE_DISABLE"}) unsetenv(name);
  }
  ~SessionRoot() { remove_folder(path_); }
  SessionRoot(const SessionRoot&) = delete;
  SessionRoot& operator=(const SessionRoot&) = delete;

  std::filesystem::path folder(const std::string& session = "play") const {
    return std::filesystem::path(path_) / session;
  }

 private:
  char path_[32] = "/tmp/idlewave-test-XXXXXX";
};

/// A child process with its standard input and output in our hands; killed with its owner if it still runs.
class Process {
 public:
  explicit Process(const std::vector<std::string>& words) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (posix_spawn(&pid_, arguments[0], &files, nullptr, arguments.data(), environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&files);
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    output_ = out[0];
  }
  ~Process() {
    if (running()) ::kill(pid_, SIGKILL);
    if (!ended_) waitpid(pid_, nullptr, 0);
    close_input();
    close(output_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  /// The next line it prints; what it had before its end.
  std::string line() {
    std::string text;
    for (char c = 0; read(output_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  int input() const { return input_; }
  void close_input() {
    if (input_ >= 0) close(std::exchange(input_, -1));
  }
  void kill(int signal) { ::kill(pid_, signal); }
  bool running() {
    if (!ended_) ended_ = wait4(pid_, &status_, WNOHANG, &used_) == pid_;
    return !ended_;
  }
  /// Exit code; -1 after a signal, -2 if it does not end.
  int exit_code() {
    if (!eventually([this] { return !running(); })) return -2;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }
  /// Processor time it has used, in seconds; when it has ended.
  double seconds_used() const {
    const auto sum = [](const timeval& time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); };
    return sum(used_.ru_utime) + sum(used_.ru_stime);
  }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int status_ = 0;
  rusage used_{};
  bool ended_ = false;
};

/// An agent of session "play" in the foreground, in which ranks can join.
class AgentProcess : public Process {
 public:
  explicit AgentProcess(const std::vector<std::string>& more = {}) : Process(words(more)) {
    EXPECT_TRUE(eventually([this] {
      session::AgentRecord record;
      return !running() || (session::read_agent_record("play", record) && record.pid == pid());
    }));
  }

 private:
  static std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> all{IDLEWAVE_AGENT_PROGRAM, "--session", "play"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

/// A rank that has joined; see played_rank.cpp.
class PlayedRank : public Process {
 public:
  PlayedRank(const std::string& behaviour, Rank rank, Rank size, const std::vector<std::string>& more = {})
      : Process(words(behaviour, rank, size, more)) {
    joined_ = line() == "1";
  }
  bool joined() const { return joined_; }
  void say_line() { EXPECT_EQ(write(input(), "\n", 1), 1); }
  void wait_until_done() { EXPECT_EQ(line(), "done"); }
  /// Lets it stop properly.
  void leave() {
    close_input();
    EXPECT_EQ(exit_code(), 0);
  }

 private:
  static std::vector<std::string> words(const std::string& behaviour, Rank rank, Rank size,
                                        const std::vector<std::string>& more) {
    std::vector<std::string> all{PLAYED_RANK_PROGRAM, behaviour, std::to_string(rank), std::to_string(size)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  bool joined_ = false;
};

/// To an agent of session "play".
inline std::unique_ptr<link::Link> open_link(link::LiveOptions options) {
  options.session = "play";
  auto opened = link::open_live(options);
  EXPECT_TRUE(opened);
  return std::move(*opened);
}

/// A monitor's link and what came over it, checked against what every stream promises.
class Monitor {
 public:
  enum class Joins { kFirst, kLate };
  /// Attaches to the agent of session "play". The numbers of what a late one gets begin anywhere.
  explicit Monitor(Joins joins = Joins::kFirst) : is_late_(joins == Joins::kLate) {
    session::AgentRecord record;
    EXPECT_TRUE(session::read_agent_record("play", record));
    link::LiveOptions options;
    options.endpoint = record.endpoint;
    link_ = open_link(options);
  }

  /// Listens at `endpoint`, for an agent that is told to connect.
  explicit Monitor(const std::string& endpoint) : is_late_(false) {
    link::LiveOptions options;
    options.endpoint = endpoint;
    options.listen = true;
    link_ = open_link(options);
  }

  /// Receives until `holds()`; false after a minute.
  template <class Condition>
  bool until(Condition holds) {
    return eventually([&] {
      look();
      return holds();
    });
  }
  /// Until the stream is complete, and the agent knows that we know.
  bool until_end() {
    const bool ended = until([this] { return link_->status().state == link::LinkState::kEnded; });
    look();
    return ended;
  }
  void set_pace(Nanoseconds pace) { link_->set_pace(pace); }
  void command(const wire::Command& command) { ASSERT_TRUE(link_->send(now(), command)); }

  const std::vector<Event>& lane(Rank rank) { return lanes_[{LaneId::Kind::kRank, rank}]; }
  const std::vector<Event>& domain_lane(std::int32_t domain) { return lanes_[{LaneId::Kind::kDomain, domain}]; }
  /// By its place in the roster.
  const std::vector<Event>& meter(std::int32_t place) { return meters_[{LaneId::Kind::kDomain, place}]; }
  std::size_t count(Rank rank, EventKind kind) {
    const auto& events = lane(rank);
    return std::size_t(
        std::count_if(events.begin(), events.end(), [=](const Event& event) { return event.kind == kind; }));
  }
  const std::vector<wire::Roster>& rosters() const { return rosters_; }
  const wire::Roster& roster() const { return rosters_.back(); }
  const std::vector<wire::Outcome>& outcomes() const { return outcomes_; }
  std::size_t frames() const { return frames_; }
  Nanoseconds up_to() const { return up_to_; }

  /// Takes in what has come.
  void look() {
    std::vector<link::Delivery> deliveries;
    link_->receive(now(), deliveries);
    for (const link::Delivery& delivery : deliveries) {
      if (delivery.direction == wire::Direction::kReceived) take(delivery.bytes);
    }
  }

 private:
  void take(const std::vector<std::byte>& bytes) {
    EXPECT_LT(bytes.size(), 1u << 20);
    auto frame = wire::decode(bytes);
    ASSERT_TRUE(frame);
    if (std::exchange(is_late_, false)) sequence_ = frame->sequence - 1;
    EXPECT_EQ(frame->sequence, ++sequence_);
    if (auto* roster = std::get_if<wire::Roster>(&frame->body)) rosters_.push_back(std::move(*roster));
    if (auto* outcome = std::get_if<wire::Outcome>(&frame->body)) outcomes_.push_back(std::move(*outcome));
    if (const auto* events = std::get_if<wire::Events>(&frame->body)) take(*events);
  }

  void take(const wire::Events& frame) {
    ++frames_;
    take_blob(frame.blob, lanes_);
    if (!frame.threads.empty()) take_blob(frame.threads, lanes_);
    if (!frame.meters.empty()) take_blob(frame.meters, meters_);
    EXPECT_GE(frame.up_to, up_to_);
    up_to_ = frame.up_to;
  }

  using Lanes = std::map<LaneId, std::vector<Event>>;
  void take_blob(std::span<const std::byte> blob, Lanes& lanes) {
    auto batches = decoder_.decode(blob);
    ASSERT_TRUE(batches);
    for (const wire::LaneBatch& batch : *batches) {
      auto& lane = lanes[batch.lane];
      for (const Event& event : batch.events) {
        EXPECT_GE(event.time, up_to_) << "an event that was promised to have come already";
        EXPECT_TRUE(lane.empty() || event.time >= lane.back().time);
        lane.push_back(event);
      }
    }
  }

  bool is_late_;
  std::unique_ptr<link::Link> link_;
  wire::EventDecoder decoder_;
  std::uint64_t sequence_ = 0;
  std::size_t frames_ = 0;
  Nanoseconds up_to_{};
  Lanes lanes_;
  Lanes meters_;
  std::vector<wire::Roster> rosters_;
  std::vector<wire::Outcome> outcomes_;
};

/// The numbers that a rank which counts has sent.
inline std::vector<std::uint64_t> numbers_of(const std::vector<Event>& events) {
  std::vector<std::uint64_t> numbers;
  for (const Event& event : events) {
    if (event.kind == EventKind::kTraffic) numbers.push_back(event.value);
  }
  return numbers;
}

}  // namespace idlewave::test
