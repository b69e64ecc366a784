#include "monitor/cli/lessons/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "monitor/cli/paths.h"
#include "monitor/host/launcher.h"
#include "monitor/host/programs.h"
#include "probe/words/quantity.h"

namespace idlewave::cli::lessons {
namespace {

using Words = std::vector<std::string>;

struct Launcher {
  Words words;  ///< "mpirun -n 4"
  host::LauncherKind kind;
};

/// Those that are here, the best first.
std::vector<Launcher> launchers(wire::Rank ranks) {
  std::vector<Launcher> found;
  for (const char* name : {"mpirun.openmpi", "mpirun", "mpirun.mpich"}) {
    const auto launcher = host::find_program(name);
    if (!launcher) continue;
    const host::LauncherKind kind = host::launcher_kind(*launcher, host::MpiChoice::kAuto);
    Words words = {*launcher, "-n", std::to_string(ranks)};
    // On one node shared memory is all that is needed; looking for networks takes seconds on some machines.
    if (kind == host::LauncherKind::kOpenMpi) words.insert(words.end(), {"--mca", "btl", "vader,self"});
    found.push_back({std::move(words), kind});
  }
  return found;
}

constexpr std::string_view kNoMpi =
    "MPI is not installed (no mpirun in PATH): install it with 'apt-get install openmpi-bin'";

/// Some programs are built once for each MPI, the others for the best.
std::optional<std::filesystem::path> program_for(const std::string& name, host::LauncherKind kind) {
  const char* mpi = kind == host::LauncherKind::kOpenMpi ? "-openmpi" : "-mpich";
  if (const auto own = host::find_program(host::program_folder() / (name + mpi))) return own;
  return host::find_program(host::program_folder() / name);
}

}  // namespace

std::vector<std::string> ring_command(const std::filesystem::path& path, const std::vector<std::string>& settings,
                                      std::optional<wire::Nanoseconds> duration) {
  Words words = {host::program_folder() / "iw-ring", "--scenario", path, "--without-delays"};
  for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
  if (duration) words.insert(words.end(), {"--duration", words::exact_duration(*duration)});
  return words;
}

wire::Result<std::vector<std::string>> launcher_command(wire::Rank ranks) {
  if (!host::find_program(host::program_folder() / "iw-ring")) {
    return wire::Error{
        "this idlewave was built without MPI, so there is no iw-ring; run scripts/setup and scripts/build"};
  }
  const std::vector<Launcher> found = launchers(ranks);
  if (!found.empty()) return found.front().words;
  return wire::Error{fmt::format("{}, or play the lesson with --simulated", kNoMpi)};
}

wire::Result<std::vector<std::string>> played_command(const support::PlayedProgram& played, wire::Rank ranks) {
  const std::vector<Launcher> found = launchers(ranks);
  if (found.empty()) return wire::Error{fmt::format("{}; 'idlewave demo memory-bound --simulated' needs none", kNoMpi)};
  for (const Launcher& launcher : found) {
    const auto program = program_for(played.name, launcher.kind);
    if (!program) continue;
    Words words = launcher.words;
    // Open MPI would bind two ranks to a core each, with all their threads.
    if (launcher.kind == host::LauncherKind::kOpenMpi) words.insert(words.end(), {"--bind-to", "none"});
    words.push_back(*program);
    words.insert(words.end(), played.arguments.begin(), played.arguments.end());
    words.push_back("--json");
    return words;
  }
  return wire::Error{
      fmt::format("there is no {} beside this program for the MPI of {}: run scripts/setup and "
                  "'scripts/build release programs'",
                  played.name, found.front().words.front())};
}

wire::Rank ranks_for_this_machine(wire::Rank per_core) {
  return std::max<wire::Rank>(2, per_core * wire::Rank(std::thread::hardware_concurrency()));
}

}  // namespace idlewave::cli::lessons
