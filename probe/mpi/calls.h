#pragma once
// The MPI functions that are wrapped, by number (probe/mpi/calls.txt).

#include <cstdint>
#include <span>

namespace idlewave::mpi {

enum class Call : std::uint16_t {
#include "probe/mpi/calls.inc"
};

struct CallInfo {
  const char* name;    ///< As in C: "MPI_Send".
  bool waits;          ///< It may block until another rank has done something.
  bool is_collective;  ///< Which moves data of a group, or waits for all of it.
};

/// In the order of Call.
std::span<const CallInfo> calls();

}  // namespace idlewave::mpi
