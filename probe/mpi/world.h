#pragma once
// What the program's MPI says of the process that has called MPI_Init or MPI_Session_init.

#include "probe/mpi/binary_interface.h"
#include "probe/mpi/language.h"

namespace idlewave::mpi {

struct World {
  int rank = -1;
  int size = 0;
  bool has_communicator = false;  ///< MPI_COMM_WORLD.
  BinaryInterface interface;
  const char* why_not = nullptr;  ///< A rank that can't be followed; else null.
};

/// `caller`: the address that MPI_Init goes back to. Calls MPI functions by their names for tools (PMPI_), which no
/// wrapper sees, after MPI_Init has returned.
[[gnu::cold]] World look_at_world(const void* caller);

/// The same after MPI_Session_init, of an open session by its handle in C. Its ranks are those of the set of all processes.
[[gnu::cold]] World look_at_session(Word session, const void* caller);

/// The handle in C of a session that stands there as its language has it; 0: there is none.
[[gnu::cold]] Word session_in_c(const void* handle, Language language, const void* caller);

/// True between MPI_Init and MPI_Finalize.
[[gnu::cold]] bool is_initialized(const void* caller);

}  // namespace idlewave::mpi
