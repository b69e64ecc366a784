#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "monitor/timeline/records.h"

namespace idlewave::timeline {

/// Commands in the order in which they were first heard of, put together from what was sent, what was answered and what
/// ranks did. The latest thousand.
class CommandLog {
 public:
  void add_sent(const wire::Command& command, Nanoseconds at);
  void add_outcome(const wire::Outcome& outcome, Nanoseconds at);  ///< Session time.
  void hold_began(wire::CommandId id, Rank rank, Nanoseconds at);
  /// `ranks`: of the whole session, which a command without a list of ranks is for.
  void hold_ended(wire::CommandId id, Nanoseconds at, Rank ranks);
  const std::deque<CommandRecord>& all() const { return records_; }
  template <class Change>
  void for_each(Change change) {
    for (CommandRecord& record : records_) change(record);
  }
  std::size_t bytes() const { return records_.size() * sizeof(CommandRecord) + ranks_kept_ * sizeof(Rank); }

 private:
  CommandRecord& record_of(const wire::Command& command, Nanoseconds at);
  CommandRecord* find(wire::CommandId id);
  void forget_oldest();
  void supersede(const wire::Command& by, Nanoseconds at);

  std::deque<CommandRecord> records_;
  std::unordered_map<wire::CommandId, std::uint64_t> numbers_;  ///< Counted from the first record of the session.
  std::uint64_t forgotten_ = 0;
  std::size_t ranks_kept_ = 0;
};

}  // namespace idlewave::timeline
