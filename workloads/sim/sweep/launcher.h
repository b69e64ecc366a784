#pragma once
// Whether an MPI launcher has started this program, and what it becomes then.

#include <string>

namespace idlewave::sim::sweep {

/// As the environment tells it, before MPI is asked.
struct Launch {
  int ranks = 1;  ///< That the launcher started with this one; 1 also without a launcher.
  int rank = 0;
  std::string mpi;  ///< Whose launcher it is, as far as that can be told: "openmpi", "mpich" or empty.
};
Launch launch_of_environment();

/// Goes on as the program that was built with the launcher's MPI. Returns only if it can't: exit code, after one line
/// from rank 0.
int become_mpi_program(const Launch& launch, char** argv);

/// The same line from every rank would be n lines, and a launcher ends all ranks as soon as the first has failed: rank
/// 0 speaks, the others leave it the time. For ranks that can't talk to each other. Returns kBadInput.
int complain_for_all(const Launch& launch, const std::string& message);

}  // namespace idlewave::sim::sweep
