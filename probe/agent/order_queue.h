#pragma once

#include <optional>
#include <vector>

#include "probe/shm/gate.h"
#include "probe/shm/layout.h"

namespace idlewave::agent {

/// The delays ordered for one rank, whose gate holds one at a time: earliest step first, then in order of arrival.
class OrderQueue {
 public:
  void add(const shm::Delay& delay);
  /// Hands the next order to the rank if its gate is free, or holds a later one that has not begun.
  void pump(shm::Slot& slot);
  /// Takes back all, also the one that holds the rank now.
  void clear(shm::Slot& slot);
  /// How long those that are not over may still hold the rank, the present one counted in full.
  wire::Nanoseconds outstanding(const shm::Slot& slot) const;
  std::size_t waiting() const { return waiting_.size(); }

 private:
  std::vector<shm::Delay> waiting_;
  std::optional<shm::Delay> armed_;  ///< The last one handed over; the rank may have finished it.
};

}  // namespace idlewave::agent
