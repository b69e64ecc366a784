#pragma once
// What ranks give a collective, and what must come out: both are closed forms of rank, step and element.

#include <cstdint>
#include <vector>

#include "workloads/collectives/options.h"

namespace idlewave::collectives {

/// What `rank` gives as one element of its block in a step.
std::int64_t given_by(Rank rank, Step step, std::size_t element);

/// Of all ranks, element by element: the sum of given_by over rank 0 to ranks - 1.
std::int64_t sum_of_given(Rank ranks, Step step, std::size_t element);

/// The buffers of one rank. Allreduce: a block is sent and one received. Allgather: one is sent, those of all are
/// received in order of rank; gather: the same, received by rank 0 alone. Scatter: rank 0 sends a block to each.
class Payload {
 public:
  Payload(Collective collective, Rank ranks, Rank rank, std::size_t elements);

  void fill(Step step);
  /// Elements received that are not what `step` makes of them; 0 where nothing is received.
  std::uint64_t wrong(Step step) const;

  std::size_t elements() const { return elements_; }  ///< Of a block.
  std::vector<std::int64_t>& sent() { return sent_; }
  std::vector<std::int64_t>& received() { return received_; }

 private:
  Rank owner_of_received(std::size_t block) const;

  Collective collective_;
  Rank ranks_;
  Rank rank_;
  std::size_t elements_;
  std::vector<std::int64_t> sent_;
  std::vector<std::int64_t> received_;
};

}  // namespace idlewave::collectives
