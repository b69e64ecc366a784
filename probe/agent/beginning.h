#pragma once

#include <cstdint>
#include <optional>

#include "probe/shm/layout.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::agent {

/// When the session began, on this node's clock: what this agent has to say of it. That is the earliest event of the
/// first frame of its node, until the monitor that the agent was told to connect to says what holds for all nodes; which
/// it can once, and for good. Kept in the memory of the ranks, so that an agent that takes over says the same.
class Beginning {
 public:
  /// `header` is borrowed. What stands in it that can't be (not known, or after `now`) is not believed.
  Beginning(shm::Header& header, wire::Nanoseconds now);

  std::optional<wire::Nanoseconds> at() const { return at_; }
  /// This is the earliest of what the next frame tells. True if that is when the session began. No rank was there before
  /// this agent was, whatever it says.
  bool note_first(wire::Nanoseconds event);
  /// What the monitor said: wall clock, ns since 1970. `wall` and `now` are the clocks of this node at one moment. True if
  /// at() is another one since.
  bool settle(std::int64_t began_wall, std::int64_t wall, wire::Nanoseconds now);

 private:
  void keep();

  shm::Header& header_;
  wire::Nanoseconds opened_;
  std::optional<wire::Nanoseconds> at_;
  bool is_settled_ = false;
};

}  // namespace idlewave::agent
