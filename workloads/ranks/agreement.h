#pragma once
// Failures of one rank that all ranks have to hear of, so that the program ends instead of hanging.

#include <mpi.h>

#include <cstdint>
#include <initializer_list>

#include "probe/wire/result.h"

namespace idlewave::ranks {

/// One line on stderr, behind the name of the program.
void complain(const wire::Error& error);

/// Success if all of them are.
wire::Status first_failure(std::initializer_list<wire::Status> checks);

/// `wrong`: messages that did not come as they were sent.
wire::Status check_messages(std::int64_t wrong);

/// True on every rank if `own` is success on every rank; else false on every rank, and the first that failed has said
/// why on stderr. Collective.
bool all_succeeded(MPI_Comm ranks, const wire::Status& own);

}  // namespace idlewave::ranks
