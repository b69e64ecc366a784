// iw-bench-analysis: what it costs to find things while 10,000 ranks of a memory-bound program report a million events a
// second, as processor time in a second of the session; and with --report (minutes) what `idlewave report` takes of a
// recording of 100 million events, in processor time and memory, and how much more it takes of an event where few ranks
// have run for long. The program is simulated: domains above their saturation point, noise, one delay. Prints JSON.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/cli/observer.h"
#include "probe/wire/frame_log.h"
#include "workloads/sim/emitter/emitter.h"
#include "workloads/sim/simulator.h"

namespace {

using namespace idlewave;
using wire::Nanoseconds;

constexpr wire::Rank kRanks = 10'000;
constexpr double kStep = 0.030;  ///< Seconds, of three events for each rank: a million events a second.
constexpr wire::Step kStepsLive = 300, kStepsReported = 3'334, kStepsLong = 400'000;
constexpr Nanoseconds kWarm = std::chrono::seconds(5), kRefreshPeriod = std::chrono::milliseconds(250),
                      kWindow = std::chrono::seconds(5);

support::Scenario program_of(wire::Rank ranks, wire::Step steps) {
  support::Scenario scenario;
  scenario.machine = {.ranks = ranks, .ranks_per_domain = 10};
  scenario.machine.core_bandwidth = 10e9;
  scenario.machine.domain_bandwidth = 50e9;
  scenario.program = {.steps = steps, .kernel = support::Kernel::kMemory};
  scenario.program.volume = std::uint64_t(kStep * scenario.machine.domain_bandwidth / 10);
  scenario.communication.distances = {-1, 1};
  scenario.communication.topology = support::Topology::kRing;
  scenario.delays = {{ranks / 2, 40, std::chrono::seconds(1)}};
  scenario.noise.distribution = support::ExponentialNoise{std::chrono::microseconds(300)};
  scenario.noise.seed = 1;
  return scenario;
}

support::Scenario long_program_of(wire::Step steps) {
  support::Scenario scenario = program_of(4, steps);
  scenario.program.kernel = support::Kernel::kCore;
  scenario.program.time = std::chrono::milliseconds(1);
  return scenario;
}

/// Frames as they would be received.
class FrameStream : public sim::emitter::Stream {
 public:
  void play(const support::Scenario& scenario) {
    const auto prepared = sim::prepare(scenario, {});
    const auto model = sim::model_of(scenario);
    // Nothing is said of partners: they have to be inferred.
    const sim::core::WaitTable unsaid(scenario.machine.ranks);
    sim::emitter::Emitter emitter(scenario, *model, unsaid, "bench", *this);
    emitter.finish(sim::play(*prepared, emitter, nullptr)->until);
    add(wire::End{}, last_);
  }

 private:
  virtual void take(Nanoseconds at, std::vector<std::byte> bytes) = 0;

  void send(wire::Roster roster) override { add(std::move(roster), {}); }
  void send(wire::Events events) override {
    last_ = events.up_to;
    add(std::move(events), last_);
  }
  template <class Body>
  void add(Body body, Nanoseconds at) {
    take(at, wire::encode({"bench", sim::emitter::kNode, ++sequence_, decltype(wire::Frame::body)(std::move(body))}));
  }

  std::uint64_t sequence_ = 0;
  Nanoseconds last_{};
};

class KeptFrames final : public FrameStream {
 public:
  const std::vector<link::Delivery>& all() const { return frames_; }

 private:
  void take(Nanoseconds at, std::vector<std::byte> bytes) override {
    frames_.emplace_back(at, wire::Direction::kReceived, std::move(bytes));
  }

  std::vector<link::Delivery> frames_;
};

class RecordedFrames final : public FrameStream {
 public:
  explicit RecordedFrames(const std::string& path)
      : file_(std::move(*wire::FrameLogWriter::create(path, {.program_version = "bench", .session = "bench"}))) {}
  bool close() { return file_->close() && !failed_; }

 private:
  void take(Nanoseconds at, std::vector<std::byte> bytes) override {
    failed_ = !file_->append(at, wire::Direction::kReceived, bytes) || failed_;
  }

  std::unique_ptr<wire::FrameLogWriter> file_;
  bool failed_ = false;
};

class ProcessorTime {
 public:
  double seconds() const { return now() - begin_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
  }
  double begin_ = now();
};

template <class Work>
double seconds_of(Work work) {
  const ProcessorTime time;
  work();
  return time.seconds();
}

void measure_live() {
  KeptFrames frames;
  frames.play(program_of(kRanks, kStepsLive));
  cli::Observer observer("", 512u << 20);
  double taken = 0, followed = 0, refreshed = 0, worst = 0;
  std::uint64_t events = 0;
  Nanoseconds began{}, next_refresh{};
  int refreshes = 0;
  for (const link::Delivery& frame : frames.all()) {
    if (frame.received_at >= kWarm && began == Nanoseconds{0}) {
      began = frame.received_at, events = observer.timeline().events();
      taken = followed = refreshed = 0;
    }
    taken += seconds_of([&] { observer.accept(frame); });
    const double follow = seconds_of([&] { observer.follow(); });
    followed += follow;
    double refresh = 0;
    if (frame.received_at >= next_refresh) {
      next_refresh = frame.received_at + kRefreshPeriod;
      refresh = seconds_of([&] { observer.refresh(frame.received_at, observer.timeline().now(), kWindow); });
      refreshes += began > Nanoseconds{0};
    }
    refreshed += refresh;
    if (began > Nanoseconds{0}) worst = std::max(worst, follow + refresh);
  }
  const double seconds = std::chrono::duration<double>(frames.all().back().received_at - began).count();
  fmt::print(
      "{{\"analysis_core_share\": {:.3f}, \"analysis_follow_share\": {:.3f}, \"analysis_refresh_ms\": {:.1f}, "
      "\"analysis_worst_ms\": {:.1f}, \"analysis_ingest_share\": {:.3f}, \"analysis_events_per_s\": {:.0f}}}\n",
      (followed + refreshed) / seconds, followed / seconds, 1e3 * refreshed / refreshes, 1e3 * worst, taken / seconds,
      double(observer.timeline().events() - events) / seconds);
}

/// What the program beside this one took; nothing if it failed.
std::optional<rusage> cost_of_report(const std::string& recording) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "idlewave";
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) != nullptr)
      execl(program.c_str(), program.c_str(), "report", recording.c_str(), "--json", nullptr);
    _exit(127);
  }
  int status = 0;
  rusage used{};
  const bool done = wait4(child, &status, 0, &used) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return done ? std::optional(used) : std::nullopt;
}

struct Report {
  double seconds = 0, memory_mb = 0, recording_mb = 0;
};

std::optional<Report> report_of(const support::Scenario& program) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("idlewave-bench-{}.iw", getpid());
  RecordedFrames frames(path);
  frames.play(program);
  const bool recorded = frames.close();
  const auto bytes = std::filesystem::file_size(path);
  const auto used = recorded ? cost_of_report(path) : std::nullopt;
  std::filesystem::remove(path);
  if (!used) return std::nullopt;
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
  return Report{seconds(used->ru_utime) + seconds(used->ru_stime), double(used->ru_maxrss) / 1024, double(bytes) / 1e6};
}

bool measure_report() {
  const auto all = report_of(program_of(kRanks, kStepsReported));
  const auto tenth = report_of(long_program_of(kStepsLong / 10)), whole = report_of(long_program_of(kStepsLong));
  if (!all || !tenth || !whole) return false;
  fmt::print(
      "{{\"report_s\": {:.1f}, \"report_memory_mb\": {:.0f}, \"report_recording_mb\": {:.0f}, "
      "\"report_long_over_tenth\": {:.1f}}}\n",
      all->seconds, all->memory_mb, all->recording_mb, whole->seconds / tenth->seconds);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--report") return measure_report() ? 0 : 1;
  measure_live();
  return 0;
}
