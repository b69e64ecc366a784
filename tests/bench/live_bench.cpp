// The live demo as a user sees it: real mpirun, 40 ranks, real agent, real ncurses in a terminal without bce (as inside
// tmux), 160x48. Prints what watching costs and how old an event is when its cell is written. Usage: iw-bench-live
// [SECONDS]
#include <fcntl.h>
#include <fmt/format.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "monitor/cli/lessons/commands.h"
#include "monitor/cli/lessons/play.h"
#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "monitor/cli/watching.h"
#include "monitor/host/names.h"
#include "monitor/host/session.h"
#include "probe/session/agent_record.h"

namespace idlewave::cli {
namespace {

constexpr winsize kSize = {48, 160, 0, 0};
constexpr Nanoseconds kWarmUp = std::chrono::seconds(3);

double seconds(const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; }

double own_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double cpu_seconds_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / double(sysconf(_SC_CLK_TCK));
}

Nanoseconds monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

/// Age of the events of every stretch of session time at the moment at which its first picture has been written.
class Stopclock final : public term::Terminal {
 public:
  Stopclock(term::Terminal& inner, const Monitor& monitor) : inner_(inner), monitor_(monitor) {}
  view::paint::Size size() const override { return inner_.size(); }
  view::Look look() const override { return inner_.look(); }
  int input_fd() const override { return inner_.input_fd(); }
  std::vector<view::Key> keys() override { return inner_.keys(); }
  bool hung_up() const override { return inner_.hung_up(); }
  std::uint64_t bytes_written() const override { return inner_.bytes_written(); }
  std::string note() const override { return inner_.note(); }
  bool show(const view::paint::Canvas& canvas) override {
    const bool shown = inner_.show(canvas);
    const auto& timeline = monitor_.observer().timeline();
    if (!shown || timeline.domains().empty()) return shown;
    const Nanoseconds written = timeline.session_time(timeline.domains().front().node, monotonic_now());
    sample(std::exchange(shown_until_, timeline.now()), timeline.now(), written);
    return shown;
  }
  double percentile(double fraction) {
    std::sort(ages_.begin(), ages_.end());
    return ages_.empty() ? 0 : ages_[std::size_t(fraction * double(ages_.size() - 1))];
  }
  void clear() { ages_.clear(); }

 private:
  /// Events come at any time within the stretch: sampled each millisecond.
  void sample(Nanoseconds from, Nanoseconds to, Nanoseconds written) {
    if (from == Nanoseconds{0}) return;
    for (Nanoseconds at = from; at < to; at += std::chrono::milliseconds(1))
      ages_.push_back(std::chrono::duration<double, std::milli>(written - at).count());
  }

  term::Terminal& inner_;
  const Monitor& monitor_;
  Nanoseconds shown_until_{};
  std::vector<double> ages_;
};

struct Cost {
  Nanoseconds at{};
  double cpu = 0;
  std::uint64_t bytes = 0;
};

/// An agent is two processes: the keeper, which its record names, and that one's child, which does the work.
double cpu_seconds_of_agent(pid_t keeper) {
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", keeper));
  double sum = cpu_seconds_of(keeper);
  for (pid_t child = 0; children >> child;) sum += cpu_seconds_of(child);
  return sum;
}

/// Nothing where there is no agent, whose share would be missing.
std::optional<Cost> cost_so_far(Nanoseconds now, const std::string& session, const term::Terminal& terminal) {
  session::AgentRecord agent;
  if (!session::read_agent_record(session.c_str(), agent)) return std::nullopt;
  return Cost{now, own_cpu_seconds() + cpu_seconds_of_agent(agent.pid), terminal.bytes_written()};
}

int measure(Nanoseconds length, std::string& result) {
  const auto play = lessons::load({.lesson = "memory-bound"});
  if (!play) return fail(play.error().message, 1);
  auto command = lessons::launcher_command(play->scenario.machine.ranks);
  if (!command) return fail(command.error().message, 1);
  for (std::string& word :
       lessons::ring_command(play->path, {"program.steps=1000000"}, kWarmUp + length + std::chrono::seconds(2)))
    command->push_back(std::move(word));

  auto session = host::Session::open(host::new_session_name("bench"), "");
  if (!session) return fail(session.error().message, 1);
  const std::string recording =
      fmt::format("{}/idlewave-bench-{}.iw", std::filesystem::temp_directory_path().string(), getpid());
  Monitor monitor(session->take_link(), {.session = session->name(), .label = "bench", .lesson = play->course});
  if (const auto started = monitor.start_recording(recording, Nanoseconds{0}); !started)
    return fail(started.error().message, 1);
  if (const auto started =
          session->start(*command, host::launcher_kind(command->front(), host::MpiChoice::kAuto), true);
      !started)
    return fail(started.error().message, 1);
  auto terminal = term::open_terminal();
  if (!terminal) return fail(terminal.error().message, 1);
  Stopclock clock(**terminal, monitor);
  std::optional<Cost> before, after;
  watch_on(monitor, clock, [&](Nanoseconds now) {
    if (!before && now > kWarmUp) {
      before = cost_so_far(now, session->name(), clock);
      clock.clear();
    }
    if (before && !after && now > kWarmUp + length) after = cost_so_far(now, session->name(), clock);
    return monitor.has_ended() || now > 2 * (kWarmUp + length) + std::chrono::seconds(10);
  });
  terminal->reset();
  if (!before || !after || !monitor.has_ended())
    return fail("the demo did not run to its end: " + session->epitaph(), 1);
  if (const auto stopped = monitor.stop_recording(); !stopped) return fail(stopped.error().message, 1);

  const double elapsed = std::chrono::duration<double>(after->at - before->at).count();
  const auto events = monitor.observer().timeline().events();
  const auto recorded = std::filesystem::file_size(recording);
  std::filesystem::remove(recording);
  result = fmt::format(
      "{{\"live_cpu_share\": {:.4f}, \"live_bytes_per_s\": {:.0f}, \"event_to_screen_p50_ms\": {:.1f}, "
      "\"event_to_screen_p99_ms\": {:.1f}, "
      "\"live_session_bytes_per_event\": {:.3f}, \"live_events_per_s\": {:.0f}, \"live_dropped\": {}}}\n",
      (after->cpu - before->cpu) / elapsed, double(after->bytes - before->bytes) / elapsed, clock.percentile(0.5),
      clock.percentile(0.99), double(recorded) / double(events),
      double(events) / std::chrono::duration<double>(monitor.observer().timeline().now()).count(),
      monitor.observer().timeline().dropped());
  return 0;
}

/// The terminal is the far end of a pseudo-terminal; a process of its own reads it, so that reading is not counted as
/// ours.
int run_in_pseudo_terminal(Nanoseconds length) {
  int near = -1, far = -1;
  if (openpty(&near, &far, nullptr, nullptr, &kSize) != 0) return fail("no pseudo-terminal", 1);
  const pid_t reader = fork();
  if (reader == 0) {
    close(far);
    char buffer[65536];
    while (read(near, buffer, sizeof buffer) > 0) {
    }
    _exit(0);
  }
  close(near);
  const int out = dup(STDOUT_FILENO);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) dup2(far, fd);
  close(far);
  setenv("TERM", "tmux-256color", 1);
  unsetenv("NO_COLOR");
  std::string result;
  const int code = measure(length, result);
  dup2(out, STDOUT_FILENO);
  std::fputs(result.c_str(), stdout);
  kill(reader, SIGTERM);
  waitpid(reader, nullptr, 0);
  return code;
}

}  // namespace
}  // namespace idlewave::cli

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  return idlewave::cli::run_in_pseudo_terminal(std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 8));
}
