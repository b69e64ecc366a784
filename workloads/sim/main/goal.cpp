#include "workloads/sim/main/goal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "workloads/sim/main/report.h"
#include "workloads/sim/network/extrapolate.h"
#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/goal_run.h"
#include "workloads/sim/network/goal_writer.h"
#include "workloads/sim/noise/make_noise.h"
#include "workloads/support/memory_limit.h"
#include "workloads/support/noise_trace.h"

namespace idlewave::sim {
namespace {

using network::GoalOptions;
using network::GoalRun;
using network::GoalSchedule;
using network::GoalWriter;

constexpr std::size_t kMostStuckLines = 10;
constexpr double kExtrapolatedBytes =
    80;  ///< An operation, with what it waits for; while the schedule is put together.

/// Parameters that are not given are those with which LogGOPSim starts.
constexpr std::string_view kNetworkOnly = R"(
[machine]
ranks = 1
ranks_per_domain = 1
[program]
steps = 1
kernel = "core"
time = "1 ms"
[communication]
L = "2500 ns"
o = "1500 ns"
g = "1000 ns"
G = "6 ns/B"
O = "0 ns/B"
S = "65535 B"
)";

/// A file's bytes, without a copy of them; for its life.
class MappedFile {
 public:
  static wire::Result<MappedFile> open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about {};
    if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
      const std::string why = fd < 0 ? std::strerror(errno) : "is not a regular file; give the path of a GOAL schedule";
      if (fd >= 0) close(fd);
      return wire::Error{fmt::format("{}: {}", path, why)};
    }
    const auto size = std::size_t(about.st_size);
    void* bytes = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED) return wire::Error{fmt::format("{}: {}", path, std::strerror(errno))};
    return MappedFile(bytes, size);
  }
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (bytes_ != nullptr) munmap(bytes_, size_);
  }
  std::string_view text() const { return {static_cast<const char*>(bytes_), size_}; }

 private:
  MappedFile(void* bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  void* bytes_;
  std::size_t size_;
};

/// On what a schedule runs.
struct Surroundings {
  support::LogGops network;
  std::optional<support::Machine> machine;  ///< None: calculations share nothing.
  std::unique_ptr<PhaseNoise> noise;        ///< Null: silent.
};

/// Of a scenario its kernel says whether calculations share memory; without one, whether bandwidths are given.
wire::Result<std::optional<support::Machine>> machine_of(const support::Scenario& scenario, bool from_file) {
  const support::Machine& machine = scenario.machine;
  const bool core = machine.core_bandwidth > 0, domain = machine.domain_bandwidth > 0;
  if (from_file) return scenario.program.kernel == support::Kernel::kMemory ? std::optional(machine) : std::nullopt;
  if (core != domain)
    return wire::Error{
        fmt::format("--set: machine.{} is missing; memory domains need core_bandwidth and domain_bandwidth, or a curve",
                    core ? "domain_bandwidth" : "core_bandwidth")};
  if (!core && machine.ranks_per_domain > 1)
    return wire::Error{
        "--set: machine.ranks_per_domain needs core_bandwidth and domain_bandwidth, or a curve, beside it"};
  return core ? std::optional(machine) : std::nullopt;
}

wire::Result<Surroundings> surroundings_of(const Options& options) {
  const bool from_file = !options.scenario.empty();
  auto scenario = from_file ? support::load_scenario(options.scenario, options.settings)
                            : support::parse_scenario(kNetworkOnly, "--set", options.settings);
  if (!scenario) return scenario.error();
  if (!scenario->communication.loggops)
    return wire::Error{options.scenario.string() +
                       ": communication has no LogGOPS parameters (L, o, g, G, O, S) for --goal"};
  const auto machine = machine_of(*scenario, from_file);
  if (!machine) return machine.error();
  const auto trace = support::load_noise_trace(scenario->noise, options.scenario.parent_path());
  if (!trace) return trace.error();
  auto noise = noise::make_noise(scenario->noise, *trace);
  if (!noise) return noise.error();
  return Surroundings{*scenario->communication.loggops, *machine, std::move(*noise)};
}

wire::Result<GoalRun> run_in(const Surroundings& surroundings, const GoalSchedule& schedule) {
  GoalOptions options{.noise = surroundings.noise.get()};
  if (!surroundings.machine) return run(schedule, surroundings.network, options);
  const auto ranks = std::size_t(std::min(schedule.ranks(), surroundings.machine->ranks_per_domain));
  const auto memory = network::memory_domains(*surroundings.machine, ranks * std::size_t(schedule.cpus()));
  if (!memory) return memory.error();
  options.memory = &*memory;
  return run(schedule, surroundings.network, options);
}

void name_the_stuck(const GoalRun& run) {
  const std::size_t lines = std::min(run.stuck.size(), kMostStuckLines);
  for (std::size_t i = 0; i < lines; ++i) complain(describe(run.stuck[i]), kFailed);
  if (lines < run.stuck.size()) complain(fmt::format("... and {} more that wait", run.stuck.size() - lines), kFailed);
}

/// A schedule, and what --extrapolate has made of another.
struct Given {
  GoalSchedule schedule;
  std::optional<Extrapolated> extrapolated;
};

wire::Result<Given> given_by(const Options& options) {
  const auto file = MappedFile::open(options.goal);
  if (!file) return file.error();
  if (const auto room = support::check_memory(file->text().size(), "take a smaller schedule"); !room)
    return room.error();
  auto schedule = network::read_goal(file->text(), options.goal.string());
  if (!schedule) return schedule.error();
  if (options.extrapolate == 1) return Given{std::move(*schedule), std::nullopt};
  const auto found = find_collectives(*schedule);
  const double bytes = kExtrapolatedBytes * ops_of_extrapolation(*schedule, found, options.extrapolate);
  if (const auto room = support::check_memory(std::size_t(std::min(bytes, 1e18)), "extrapolate to fewer ranks"); !room)
    return room.error();
  auto larger = extrapolate(*schedule, found, options.extrapolate);
  if (!larger) return wire::Error{"--" + larger.error().message};
  return Given{std::move(*larger), Extrapolated{schedule->ranks(), found.calls.size()}};
}

/// Error: the file exists, or can't be written whole; what there is of it then is taken away.
wire::Status write_goal(const GoalSchedule& schedule, const std::filesystem::path& path) {
  FILE* const file = std::fopen(path.c_str(), "wxe");
  if (!file) return wire::Error{fmt::format("{}: {}", path.string(), std::strerror(errno))};
  GoalWriter writer(schedule);
  std::string text = goal_head(schedule);
  const auto put = [&] { return std::fwrite(text.data(), 1, text.size(), file) == text.size(); };
  bool whole = put();
  while (whole && !writer.is_done()) {
    text.clear();
    writer.write_rank(text);
    whole = put();
  }
  const int failed = errno;
  if (std::fclose(file) == 0 && whole) return wire::ok();
  unlink(path.c_str());
  return wire::Error{fmt::format("{}: {}", path.string(), std::strerror(whole ? errno : failed))};
}

}  // namespace

int run_goal(const Options& options) {
  const auto surroundings = surroundings_of(options);
  if (!surroundings) return complain(surroundings.error().message, kBadInput);
  const auto given = given_by(options);
  if (!given) return complain(given.error().message, kBadInput);
  if (!options.output.empty()) {
    if (const auto written = write_goal(given->schedule, options.output); !written)
      return complain(written.error().message, kFailed);
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto result = run_in(*surroundings, given->schedule);
  if (!result) return complain(result.error().message, kBadInput);
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  tell(options.json ? goal_json(*result, wall_s, given->extrapolated)
                    : goal_text(*result, wall_s, given->extrapolated));
  name_the_stuck(*result);
  return result->complete() ? kSuccess : kFailed;
}

}  // namespace idlewave::sim
