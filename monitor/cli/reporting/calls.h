#pragma once
// What a report says of a program's MPI calls, by function and by pairs of ranks.

#include <string>

#include "monitor/timeline/timeline.h"
#include "workloads/support/json.h"

namespace idlewave::cli::reporting {

/// Function by function, with what each rank has of it; null where no MPI calls were seen.
support::Json functions_json(const timeline::Timeline& timeline);
/// Pair by pair; null where no MPI calls were seen.
support::Json matrix_json(const timeline::Timeline& timeline);

/// How long each rank was in phases of each kind, over the whole run: one list a column.
support::Json time_by_rank_json(const timeline::Timeline& timeline);

/// The same of each thread that has a lane beside its rank's; null where none has.
support::Json time_by_thread_json(const timeline::Timeline& timeline);

/// The collective that all ranks have called equally often, and most often of those: what lies between two such calls may
/// be taken for a step (`run --step-at`), where ranks find none, or not the same. One line; empty where there is none.
std::string possible_step_text(const timeline::Timeline& timeline);

/// Both in short tables; empty where no MPI calls were seen.
std::string calls_text(const timeline::Timeline& timeline);

}  // namespace idlewave::cli::reporting
