#pragma once

#include <optional>
#include <vector>

#include "probe/shm/run.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::agent {

/// Turns what one rank tells of its runs, in its ring and in its slot, into events (EventKind::kSummed). Where the sums of
/// a run don't fill it to the nanosecond, as those that an agent before this one had told in part, it counts as dropped.
class RunReader {
 public:
  /// Appends to `out` what the ring's next event says: mostly itself.
  void take(const wire::Event& event, std::vector<wire::Event>& out);

  /// What lies in the slot, and belongs behind the latest event that was taken. Appends to `out` what is new of it, and
  /// how the rank goes on.
  void take(const shm::Run& run, std::vector<wire::Event>& out);

  /// The rank was just telling a run when it was last heard.
  bool is_torn() const { return coming_.used() > 0; }
  /// Events of a run may come that are as early as this; nothing: no event was taken.
  std::optional<wire::Nanoseconds> told_until() const;

 private:
  void tell(const shm::Run& run, std::vector<wire::Event>& out);
  bool fits(const shm::Run& run) const;
  bool was_told(const wire::Event& event);
  void go_on_from(wire::Nanoseconds time);

  std::optional<wire::Nanoseconds> begin_;  ///< Of the run: the latest event.
  shm::Run told_;                           ///< Of it.
  shm::Run coming_;                         ///< From the ring.
  std::uint64_t passed_ = 0;                ///< Of the told phases, so many have come again from the ring.
};

}  // namespace idlewave::agent
