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
        "this idlewave was built without MPI, so there is no iw-ring; run scripts/setup and build again"};
  }
  for (const char* name : {"mpirun.openmpi", "mpirun"}) {
    const auto launcher = host::find_program(name);
    if (!launcher) continue;
    Words words = {*launcher, "-n", std::to_string(ranks)};
    // On one node shared memory is all that is needed; looking for networks takes seconds on some machines.
    if (host::launcher_kind(*launcher, host::MpiChoice::kAuto) == host::LauncherKind::kOpenMpi)
      words.insert(words.end(), {"--mca", "btl", "vader,self"});
    return words;
  }
  return wire::Error{
      "MPI is not installed (no mpirun in PATH): install it with 'apt-get install openmpi-bin', or play the lesson "
      "with --simulated"};
}

wire::Rank ranks_for_this_machine() { return std::max<wire::Rank>(2, wire::Rank(std::thread::hardware_concurrency())); }

}  // namespace idlewave::cli::lessons
