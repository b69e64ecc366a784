#include "workloads/sim/main/batch.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "workloads/sim/main/recording.h"
#include "workloads/sim/main/report.h"

namespace idlewave::sim {
namespace {

/// Up to here a run is small enough to be recorded and looked at once more for what `report` finds.
constexpr std::uint64_t kFindingsUpTo = 1'000'000;  ///< Rank-steps.

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 65536> buffer;
  for (std::size_t n = 0; pipe && (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), n);
  if (pipe) pclose(pipe);
  return text;
}

/// What `idlewave report` says of a session file. The monitor's program lies beside this one; without it there are no findings.
std::string findings_of(const std::filesystem::path& recording, const Fractions& window) {
  std::error_code unknown;
  const auto monitor = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path() / "idlewave";
  if (unknown || access(monitor.c_str(), X_OK) != 0) return {};
  return output_of("'" + monitor.string() + "' report '" + recording.string() + "' --json --window " + std::to_string(window.from) + ":" + std::to_string(window.to) + " 2>/dev/null");
}

/// Findings of a run that was not asked to be recorded: by a file that is gone afterwards.
std::string findings(const Prepared& prepared, const Options& options, const Run& run) {
  if (!options.json || run.stopped || run.rank_steps > kFindingsUpTo) return {};
  if (!options.record.empty()) return findings_of(options.record, options.window);
  std::string folder = std::filesystem::temp_directory_path() / "idlewave-sim-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return {};
  const std::string path = folder + "/run.iw";
  const std::string found = record(prepared, options, path) ? findings_of(path, options.window) : "";
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return found;
}

wire::Result<Timed> simulate(const Prepared& prepared, const Options& options) {
  const RunOptions plain{.noise = prepared.noise.get(), .stop = &interrupted(), .starts_of = options.step_start};
  const auto needed = bytes_needed(prepared.scenario, plain);
  if (!needed) return needed.error();
  if (const wire::Status room = check_memory(*needed); !room) return room.error();
  const auto begin = std::chrono::steady_clock::now();
  auto result = run(prepared.scenario, plain);
  if (!result) return result.error();
  Timed timed{std::move(*result), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  if (timed.run.stopped) return timed;
  auto averaged = run(prepared.scenario, {.noise = prepared.noise.get(), .stop = &interrupted(), .active_means_of = options.window});
  if (!averaged) return averaged.error();
  timed.run.active_means = std::move(averaged->active_means);
  return timed;
}

}  // namespace

int run_batch(const Prepared& prepared, const Options& options) {
  const auto timed = simulate(prepared, options);
  if (!timed) return complain(timed.error().message, kBadInput);
  if (!options.record.empty() && !timed->run.stopped) {
    if (const wire::Status recorded = record(prepared, options, options.record); !recorded) return complain(recorded.error().message, kFailed);
  }
  const std::string text = options.json ? run_json(prepared.scenario, options, *timed, findings(prepared, options, timed->run)) : run_text(prepared.scenario, options, *timed);
  std::fputs(text.c_str(), stdout);
  return kSuccess;
}

}  // namespace idlewave::sim
