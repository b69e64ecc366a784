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
#include <string_view>

#include "workloads/sim/main/report.h"
#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/goal_run.h"

namespace idlewave::sim {
namespace {

constexpr std::size_t kMostStuckLines = 10;

/// Parameters that are not given are those with which LogGOPSim starts; the rest of the scenario is not used.
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
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
      const std::string why = fd < 0 ? std::strerror(errno) : "is not a file";
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

wire::Result<support::LogGops> network_of(const Options& options) {
  auto scenario = options.scenario.empty() ? support::parse_scenario(kNetworkOnly, "--set", options.settings) : support::load_scenario(options.scenario, options.settings);
  if (!scenario) return scenario.error();
  if (!scenario->communication.loggops) return wire::Error{options.scenario.string() + ": communication has no LogGOPS parameters (L, o, g, G, O, S) for --goal"};
  return *scenario->communication.loggops;
}

void name_the_stuck(const GoalRun& run) {
  const std::size_t lines = std::min(run.stuck.size(), kMostStuckLines);
  for (std::size_t i = 0; i < lines; ++i) complain(describe(run.stuck[i]), kFailed);
  if (lines < run.stuck.size()) complain(fmt::format("... and {} more that wait", run.stuck.size() - lines), kFailed);
}

}  // namespace

int run_goal(const Options& options) {
  const auto network = network_of(options);
  if (!network) return complain(network.error().message, kBadInput);
  const auto file = MappedFile::open(options.goal);
  if (!file) return complain(file.error().message, kBadInput);
  const auto schedule = read_goal(file->text(), options.goal.string());
  if (!schedule) return complain(schedule.error().message, kBadInput);
  const auto begin = std::chrono::steady_clock::now();
  const auto result = run(*schedule, *network);
  if (!result) return complain(result.error().message, kBadInput);
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::fputs((options.json ? goal_json(*result, wall_s) : goal_text(*result, wall_s)).c_str(), stdout);
  name_the_stuck(*result);
  return result->complete() ? kSuccess : kFailed;
}

}  // namespace idlewave::sim
