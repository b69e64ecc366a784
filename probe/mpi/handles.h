#pragma once
// What the program's handles stand for: how large its datatypes are, and who of MPI_COMM_WORLD the ranks of its
// communicators are. Asked of the MPI library by the names for tools (PMPI_), after the program's own call with that
// handle has succeeded, so that none is asked for that the library would refuse; what it answered is remembered, in a
// fixed amount of memory. All of that is local in MPI. The thread that reports alone, apart from forget_handles().

#include <cstdint>
#include <span>

#include "probe/mpi/roles.h"

namespace idlewave::mpi {

inline constexpr int kUnknownRank = -1;

/// Before the first question: `caller` is the address that MPI_Init goes back to, `world` MPI_COMM_WORLD in C.
void begin_handles(const void* caller, Word world);

/// Some datatype or communicator is freed: its handle may come again with another meaning. Any thread; just before it
/// is freed.
void forget_handles();
/// The same of a communicator.
void forget_communicators();
/// Changes whenever a communicator is freed.
std::uint32_t generation_of_communicators();

/// Handles are pointers in C with Open MPI, and ints with MPICH and its kin.
bool handles_are_ints();

/// Bytes of data in one item; -1: not known.
std::int64_t ask_size_of_type(Word type, bool is_fortran);

/// The rank in MPI_COMM_WORLD of `rank` of a communicator; of an intercommunicator in its remote group. kUnknownRank
/// for MPI_ANY_SOURCE, MPI_PROC_NULL, and processes that are not in MPI_COMM_WORLD.
int ask_world_rank(Word comm, int rank, bool is_fortran);

/// How many ranks give and take in a collective: of an intercommunicator the others. 0: not known.
int ranks_of(Word comm, bool is_fortran);
/// The ranks in MPI_COMM_WORLD of the communicator's ranks, in their order; how many. 0 where that is more than `out` has
/// room for, of an intercommunicator, and where one is not in MPI_COMM_WORLD. Not remembered.
int world_ranks_of(Word comm, bool is_fortran, std::span<int> out);
/// Of the calling process; kUnknownRank: not known.
int own_rank_in(Word comm, bool is_fortran);
/// Its root is told in another way, and nobody gives to his own side.
bool is_intercommunicator(Word comm, bool is_fortran);

/// As ask_size_of_type.
template <Form form>
std::int64_t size_of_type(Word type) {
  return ask_size_of_type(handle_at<form>(type), is_fortran(form));
}

/// As ask_world_rank, of words as a wrapper got them.
template <Form form>
int world_rank(Word comm, Word rank) {
  return ask_world_rank(handle_at<form>(comm), int_at<form>(rank), is_fortran(form));
}

}  // namespace idlewave::mpi
