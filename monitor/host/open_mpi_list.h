#pragma once
// Open MPI's other way of handing variables to ranks, the parameter mca_base_env_list. Where it is set, in whatever way,
// mpirun refuses to start with -x beside it.

#include <string>
#include <vector>

namespace idlewave::host {

/// Adds `items`, each "NAME" or "NAME=value", to the list that the user has given: in the flags of `command`, the
/// environment (ours, or what `environment` adds to it), or a file of parameters or of flags. What the user has of the same name, in
/// the list or the environment, follows a value of ours. False: there is no list, and -x is free.
bool add_to_open_mpi_list(std::vector<std::string>& command, const std::vector<std::string>& items,
                          std::vector<std::string>& environment);

}  // namespace idlewave::host
