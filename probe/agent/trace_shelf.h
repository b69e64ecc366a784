#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "probe/shm/trace_room.h"
#include "probe/wire/noise_order.h"

namespace idlewave::agent {

/// Which parts of the node's room for traces are in use.
class TraceShelf {
 public:
  struct Place {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  /// Whoever has one plays from that place, or did; it is free again when nobody has it.
  using Loan = std::shared_ptr<const Place>;

  explicit TraceShelf(shm::TraceRoom& room) : room_(room) {}

  /// Null: there is no such room in one piece.
  Loan put(const std::vector<wire::Detour>& detours);
  /// How many detours fit into the largest piece that is free.
  std::uint32_t free() const;

 private:
  std::vector<Place> gaps() const;

  shm::TraceRoom& room_;
  std::vector<std::weak_ptr<const Place>> lent_;
};

}  // namespace idlewave::agent
