#pragma once
// With whom a rank exchanges a message.

#include <cstdint>

#include "probe/wire/vocabulary.h"

namespace idlewave::mpi {

enum class Side : std::uint8_t {
  kUnknown,
  kNobody,     ///< MPI_PROC_NULL, or a wait that depends on no other rank.
  kFrom,       ///< It receives.
  kTo,         ///< It sends, and goes on whether the receiver is there or not.
  kToWaiting,  ///< It sends, and is done only when the receiver is there: rendezvous, MPI_Ssend.
  kAnySource,  ///< It receives from whoever sends: known when the message has come.
};

struct Partner {
  wire::Rank rank = 0;  ///< In MPI_COMM_WORLD; kFrom, kTo, kToWaiting.
  Side side = Side::kUnknown;
  friend bool operator==(const Partner&, const Partner&) = default;
};

}  // namespace idlewave::mpi
