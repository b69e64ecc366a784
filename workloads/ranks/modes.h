#pragma once
// What several of our MPI programs can be told to do, in the same words.

#include "probe/words/choice.h"

namespace idlewave::ranks {

/// kVirtual: what would take memory, a core or a network is waited for, for as long as it would take, so that any number
/// of ranks fits on any machine.
enum class Kernel { kReal, kVirtual };
inline constexpr words::Choices<Kernel, 2> kKernels{{{"real", Kernel::kReal}, {"virtual", Kernel::kVirtual}}};

/// How a rank waits: inside MPI, which polls; or asleep, looking now and then or woken by a neighbour, so that the ranks
/// that wait leave the cores to those that don't.
enum class Waiting { kAuto, kPolling, kAsleep };
inline constexpr words::Choices<Waiting, 3> kWaitings{
    {{"auto", Waiting::kAuto}, {"polling", Waiting::kPolling}, {"asleep", Waiting::kAsleep}}};

}  // namespace idlewave::ranks
