#pragma once

#include <cstdint>

#include "probe/mpi/roles.h"

namespace idlewave::mpi {

/// What a caller from C sees of an MPI library, as far as we look at it. Libraries of one family have it in common, so that
/// a program can be started with any of them.
struct BinaryInterface {
  Word world = 0;            ///< MPI_COMM_WORLD.
  Word no_communicator = 0;  ///< MPI_COMM_NULL.
  bool has_numbers = false;  ///< Handles are ints, the same in Fortran; else pointers, or what is as large.
  int any_source = -1;
  std::uint32_t status_bytes = 0;
  std::uint32_t source_at = 0;              ///< In a status, bytes.
  Word ignore = 0;                          ///< MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE.
  int cart = 0, graph = 0, dist_graph = 0;  ///< What MPI_Topo_test says of a communicator.
};

}  // namespace idlewave::mpi
