#pragma once
// Who waits for whom in a collective, after P. Widener, S. Levy, K. Ferreira, T. Hoefler, "On noise and the performance
// benefit of nonblocking collectives", 2016 (widener-2016), section 4.3 and Fig. 10. Rank a depends on rank b if a can't be
// done before b has begun: directly where b's message goes to a, else through others. The root of a tree is rank 0.
// Pure.

#include <bit>
#include <cstdint>

namespace idlewave::theory {

/// Rounds of either algorithm for n >= 1 ranks.
constexpr int collective_rounds(std::uint32_t ranks) { return std::bit_width(ranks - 1); }

/// Dissemination: in round k each rank waits for the one 2^k below it (a ring). Direct dependencies of all ranks.
constexpr std::uint64_t dissemination_direct(std::uint32_t ranks) {
  return std::uint64_t(ranks) * std::uint64_t(collective_rounds(ranks));
}
/// With those through others: each rank depends on each other one.
constexpr std::uint64_t dissemination_all(std::uint32_t ranks) { return std::uint64_t(ranks) * (ranks - 1); }

/// Binomial tree: in round k the ranks below 2^k send to the one 2^k above (a broadcast); a reduction is the same backwards.
constexpr std::uint64_t tree_direct(std::uint32_t ranks) { return ranks - 1; }

/// On how many ranks one of a broadcast depends: on those on its way from the root. In a reduction, how many depend on it.
constexpr int tree_ancestors(std::uint32_t rank) { return std::popcount(rank); }

/// How many ranks depend on one of a broadcast: those that differ from it in higher bits alone. In a reduction, on how many
/// it depends.
constexpr std::uint32_t tree_descendants(std::uint32_t rank, std::uint32_t ranks) {
  return (ranks - 1 - rank) >> std::bit_width(rank);
}

/// Dependencies in a tree with those through others: the ones in the binary figures of all ranks. About n/2 log2 n.
constexpr std::uint64_t tree_all(std::uint32_t ranks) {
  std::uint64_t all = 0;
  for (int bit = 0; bit < collective_rounds(ranks); ++bit) {
    const std::uint64_t half = std::uint64_t{1} << bit, rest = ranks % (2 * half);
    all += ranks / (2 * half) * half + (rest > half ? rest - half : 0);
  }
  return all;
}

}  // namespace idlewave::theory
