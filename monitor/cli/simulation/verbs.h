#pragma once
// The verbs that simulate. Under an MPI launcher they become the program that shares the runs of a sweep out among
// ranks. Exit code.

namespace idlewave::cli::simulation {

/// argv[0] is the verb itself.
int simulate(int argc, char** argv);
int study(int argc, char** argv);

}  // namespace idlewave::cli::simulation
