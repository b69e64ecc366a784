#include "workloads/sim/main/batch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "workloads/sim/emitter/recording.h"
#include "workloads/sim/main/report.h"
#include "workloads/sim/simulator.h"

namespace idlewave::sim {
namespace {

/// Up to here a run is small enough to be recorded and looked at once more for what `report` finds.
constexpr std::uint64_t kFindingsUpTo = 1'000'000;  ///< Rank-steps.

wire::Result<Played> record_into(const std::string& path, const Prepared& prepared, const Options& options) {
  const wire::FrameLogHeader header{.program_version = IDLEWAVE_VERSION,
                                    .session = options.session,
                                    .machine = "simulated",
                                    .command_line = "idlewave sim " + options.scenario.string()};
  return emitter::record(prepared, header, options.scenario.stem(), path, &interrupted());
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 65536> buffer;
  for (std::size_t n = 0; pipe && (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), n);
  if (pipe) pclose(pipe);
  return text;
}

/// One word of a shell's command line, whatever it holds.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// What `idlewave report` says of a session file. The monitor's program lies beside this one; without it there are no
/// findings.
std::string findings_of(const std::filesystem::path& recording, const Fractions& window) {
  std::error_code unknown;
  const auto monitor = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path() / "idlewave";
  if (unknown || access(monitor.c_str(), X_OK) != 0) return {};
  return output_of(fmt::format("{} report {} --json --window {}:{} 2>/dev/null", quoted(monitor), quoted(recording),
                               window.from, window.to));
}

/// Of a run that was not asked to be recorded: by a file that is gone afterwards.
std::string findings(const Prepared& prepared, const Options& options) {
  if (!options.record.empty()) return findings_of(options.record, options.window);
  std::error_code ignored;
  std::string folder = std::filesystem::temp_directory_path(ignored) / "idlewave-sim-XXXXXX";
  if (ignored || mkdtemp(folder.data()) == nullptr) return {};
  const std::string path = folder + "/run.iw";
  const auto recorded = record_into(path, prepared, options);
  const std::string found = recorded && recorded->whole ? findings_of(path, options.window) : "";
  std::filesystem::remove_all(folder, ignored);
  return found;
}

/// Ctrl-C reaches the monitor's program as well, which then finds nothing.
std::string findings_or_why_not(const Prepared& prepared, const Options& options, const Run& run) {
  if (!options.json || run.stopped || run.rank_steps > kFindingsUpTo) return {};
  std::string found = interrupted() ? "" : findings(prepared, options);
  if (found.empty() && interrupted()) complain("interrupted: without what `idlewave report` finds in a run", kSuccess);
  return found;
}

wire::Result<Timed> simulate(const Prepared& prepared, const Options& options) {
  const RunOptions plain{.noise = prepared.noise.get(), .stop = &interrupted(), .starts_of = options.step_start};
  if (const wire::Status room = check_memory(prepared.scenario, plain); !room) return room.error();
  const auto begin = std::chrono::steady_clock::now();
  auto result = run(prepared.scenario, plain);
  if (!result) return result.error();
  Timed timed{std::move(*result), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  if (!timed.run.stopped) {
    auto means = active_means(prepared, timed.run, options.window, &interrupted());
    if (!means) return means.error();
    timed.run.active_means = std::move(*means);
    if (interrupted() && timed.run.active_means.empty())
      complain("interrupted: without averages of active ranks", kSuccess);
  }
  return timed;
}

/// After the run, so that a run that can't be leaves no file.
int record_as_asked(const Prepared& prepared, const Options& options, const Run& run) {
  if (options.record.empty()) return kSuccess;
  if (interrupted()) return complain(options.record + ": not written, since the run was interrupted", kSuccess);
  const auto recorded = record_into(options.record, prepared, options);
  if (!recorded) return complain(recorded.error().message, kFailed);
  if (recorded->whole) return kSuccess;
  return complain(fmt::format("{}: interrupted, ends at {:.6g} s of {:.6g} s of simulated time", options.record,
                              recorded->until, run.makespan),
                  kSuccess);
}

}  // namespace

int run_batch(const Prepared& prepared, const Options& options) {
  if (!options.record.empty()) {
    if (const wire::Status free = emitter::check_recording(prepared.scenario, options.record); !free)
      return complain(free.error().message, kBadInput);
  }
  const auto timed = simulate(prepared, options);
  if (!timed) return complain(timed.error().message, kBadInput);
  if (const int code = record_as_asked(prepared, options, timed->run); code != kSuccess) return code;
  const std::string text =
      options.json ? run_json(prepared.scenario, options, *timed, findings_or_why_not(prepared, options, timed->run))
                   : run_text(prepared.scenario, options, *timed);
  tell(text);
  return kSuccess;
}

}  // namespace idlewave::sim
