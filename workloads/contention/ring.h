#pragma once
// The ring of the ranks that communicate, one for each domain.

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "workloads/ranks/place.h"

namespace idlewave::contention {

/// A ring of one rank sends to itself.
class Ring {
 public:
  /// `message_size` >= 8.
  Ring(const ranks::Group& members, int message_size);

  /// Sends a message to the next and receives one from the one before, at the same time. Collective over the members.
  void turn();

  /// Whether the clock of any member wants to go on; the same on all. Collective over the members.
  bool any_goes_on(bool own) const;

  /// Messages since the ring was made that came otherwise than they were sent. Reads the last one as a whole, of those
  /// before it where it stands in the order.
  std::int64_t wrong() const;

 private:
  ranks::Group members_;
  int bytes_;
  int next_;
  int before_;
  std::uint64_t round_ = 0;
  std::int64_t wrong_ = 0;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
};

}  // namespace idlewave::contention
