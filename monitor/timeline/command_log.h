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
  void add_sent(const wire::Command& command, Moment at);
  /// Of the node whose clock that is; null: of one that has told nothing else.
  void add_outcome(const wire::Outcome& outcome, Moment at, const NodeClock* clock);
  /// `at`: lane time of a rank that `clock` is of.
  void hold_began(wire::CommandId id, const NodeClock& clock, Nanoseconds at);
  /// `ranks`: of the whole session, which a command without a list of ranks is for.
  void hold_ended(wire::CommandId id, const NodeClock& clock, Nanoseconds at, Rank ranks);
  const std::deque<CommandRecord>& all() const { return records_; }
  std::size_t bytes() const;

 private:
  CommandRecord& record_of(const wire::Command& command, Moment at);
  CommandRecord::Holds& holds_of(CommandRecord& record, const NodeClock* clock);
  CommandRecord* find(wire::CommandId id);
  void forget_oldest();
  void supersede(const wire::Command& by, Moment at);
  bool stands_elsewhere(const wire::Command& ending, const NodeClock* ended_at);

  std::deque<CommandRecord> records_;
  std::unordered_map<wire::CommandId, std::uint64_t> numbers_;  ///< Counted from the first record of the session.
  std::uint64_t forgotten_ = 0;
  std::size_t ranks_kept_ = 0;
  std::size_t holds_kept_ = 0;
};

}  // namespace idlewave::timeline
