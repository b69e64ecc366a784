#pragma once
// What the program's MPI says of the process that has called MPI_Init.

#include "probe/mpi/binary_interface.h"

namespace idlewave::mpi {

struct World {
  int rank = -1;
  int size = 0;
  BinaryInterface interface;
  const char* why_not = nullptr;  ///< A rank that can't be followed; else null.
};

/// `caller`: the address that MPI_Init goes back to. Calls MPI functions by their names for tools (PMPI_), which no
/// wrapper sees, after MPI_Init has returned.
World look_at_world(const void* caller);

/// True between MPI_Init and MPI_Finalize.
bool is_initialized(const void* caller);

}  // namespace idlewave::mpi
