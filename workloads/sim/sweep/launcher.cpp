#include "workloads/sim/sweep/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "workloads/sim/sweep/console.h"

namespace idlewave::sim::sweep {
namespace {

constexpr std::chrono::seconds kTimeToSpeak{1};

/// Names of the variables that launchers set, the surest first. srun sets its own beside those of its plugin for MPI.
struct Known {
  const char* ranks;
  const char* rank;
  const char* mpi;
};
constexpr Known kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi"},
    {"PMI_SIZE", "PMI_RANK", "mpich"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", ""},
};
constexpr const char* kPrograms[] = {"openmpi", "mpich"};

int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  int number = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  return error == std::errc{} && *end == '\0' ? number : otherwise;
}

}  // namespace

Launch launch_of_environment() {
  for (const Known& launcher : kLaunchers) {
    const int ranks = number_in(launcher.ranks, 0);
    if (ranks > 0) return {ranks, number_in(launcher.rank, 0), launcher.mpi};
  }
  return {};
}

int become_mpi_program(const Launch& launch, char** argv) {
  std::error_code unknown;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  // Where the launcher does not say whose it is, any may be right; where the right one is missing, MPI itself finds
  // out.
  for (const bool any : {false, true}) {
    for (const std::string mpi : kPrograms) {
      if (any || mpi == launch.mpi) execv((folder / ("idlewave-sim-" + mpi)).c_str(), argv);
    }
  }
  return complain_for_all(launch,
                          fmt::format("{} ranks were started, but this idlewave was built without MPI: build all of it "
                                      "(scripts/build) where mpicc is found, or start it once",
                                      launch.ranks));
}

int complain_for_all(const Launch& launch, const std::string& message) {
  if (launch.rank == 0) return complain(message, kBadInput);
  std::this_thread::sleep_for(kTimeToSpeak);
  return kBadInput;
}

}  // namespace idlewave::sim::sweep
