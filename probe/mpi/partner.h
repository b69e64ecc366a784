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
  kToPerhaps,  ///< It sends, and nobody knows which of the two it is.
  kAnySource,  ///< It receives from whoever sends: known when the message has come.
  kGroup,      ///< A collective: it waits for those of its group on whom what it gets depends.
};

struct Partner {
  wire::Rank rank = 0;  ///< In MPI_COMM_WORLD; kFrom, kTo, kToWaiting.
  Side side = Side::kUnknown;
  friend bool operator==(const Partner&, const Partner&) = default;
};

/// With whom a call has to do, as its arguments say.
using Peers = std::uint64_t;
inline constexpr Peers kNobody = 0;             ///< By name: nobody, anybody, or whoever a request was started with.
inline constexpr Peers kEverybody = ~Peers{0};  ///< A collective of all ranks.
/// A look for a message of anybody: who comes when is by chance, and no round of partners that comes again.
inline constexpr Peers kWhoeverComes = kEverybody - 1;
/// Ranks of the call's communicator; below 0: nobody, or anybody.
constexpr Peers peers_of(int to, int from) {
  const auto half = [](int rank) { return rank < 0 ? std::uint32_t{0} : static_cast<std::uint32_t>(rank) + 1; };
  return Peers{half(to)} << 32 | half(from);
}

}  // namespace idlewave::mpi
