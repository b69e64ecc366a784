#pragma once

#include <cstdint>
#include <optional>

#include "probe/shm/call_book.h"
#include "probe/wire/frame.h"

namespace idlewave::agent {

/// Reads what a rank has done by function and by receiver. What stands in its book is taken as sums of some moment, and
/// never for a place or a size.
class CallReader {
 public:
  /// Nothing if the rank has made no call and told of no message since the last time, or none at all.
  std::optional<wire::RankCalls> read_if_new(const shm::CallBook& book, wire::Rank rank, std::int32_t pid,
                                             wire::Rank world_size);
  /// Somebody has come who has not heard what was read so far.
  void forget() { seen_ = 0; }

 private:
  std::uint64_t seen_ = 0;  ///< Calls, or messages where there are none.
};

}  // namespace idlewave::agent
