#pragma once
// Messages round a ring of ranks, checked.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/ranks/place.h"

namespace idlewave::ranks {

/// A ring of one rank sends to itself.
class Ring {
 public:
  /// `most`: bytes of a message at most; each has at least 8.
  Ring(const Group& members, int most);

  /// Sends a message of `most` bytes to the next and receives one from the one before, at the same time. Collective over
  /// the members.
  void turn();

  /// The same of `bytes`, begun; over once is_done() says so. Collective over the members, who give the same size.
  void post(int bytes);
  bool is_done();

  /// Whether the clock of any member wants to go on; the same on all. Collective over the members.
  bool any_goes_on(bool own) const;

  /// Messages since the ring was made that came otherwise than they were sent. Reads the last one as a whole, of those
  /// before it where it stands in the order.
  std::int64_t wrong() const;

  int next() const { return next_; }  ///< As a rank of the ring.
  int before() const { return before_; }

 private:
  void look_at_number() { wrong_ += received_[0] != round_; }

  Group members_;
  int most_;
  int next_;
  int before_;
  int bytes_ = 0;  ///< Of the last message.
  std::uint64_t round_ = 0;
  std::int64_t wrong_ = 0;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace idlewave::ranks
