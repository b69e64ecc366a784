#include "monitor/timeline/command_log.h"

namespace idlewave::timeline {
namespace {

constexpr std::size_t kKept = 1024;
constexpr std::size_t kRanksKept = 1 << 22;

/// True if what `by` orders takes the place of `command`: cleared, or noise replaced by other noise.
bool supersedes(const wire::Command& by, const CommandRecord& record) {
  const bool clears = std::holds_alternative<wire::ClearOrder>(by.order);
  if (by.id == record.command.id || (!clears && !std::holds_alternative<wire::NoiseOrder>(by.order))) return false;
  if (!by.ranks.empty() && by.ranks != record.command.ranks) return false;
  if (std::holds_alternative<wire::NoiseOrder>(record.command.order)) return true;
  return clears && !record.in_effect;
}

}  // namespace

void CommandLog::add_sent(const wire::Command& command, Nanoseconds at) { record_of(command, at); }

void CommandLog::add_outcome(const wire::Outcome& outcome, Nanoseconds at) {
  CommandRecord& record = record_of(outcome.command, at);
  record.answered = true;
  record.accepted |= outcome.accepted;  // several nodes may answer, each for its own ranks
  if (!outcome.accepted) record.reason = outcome.reason;
  if (outcome.accepted) supersede(outcome.command, at);
}

void CommandLog::supersede(const wire::Command& by, Nanoseconds at) {
  for (CommandRecord& record : records_) {
    if (record.over || !supersedes(by, record)) continue;
    record.over = true;
    record.ended = at;
  }
}

void CommandLog::hold_began(wire::CommandId id, Rank rank, Nanoseconds at) {
  CommandRecord* record = find(id);
  if (record == nullptr || (record->in_effect && record->began <= at)) return;
  record->in_effect = true;
  record->began = at;
  record->first_rank = rank;
}

void CommandLog::hold_ended(wire::CommandId id, Nanoseconds at, Rank ranks) {
  CommandRecord* record = find(id);
  if (record == nullptr || record->over) return;
  record->ended = std::max(record->ended, at);
  if (!std::holds_alternative<wire::DelayOrder>(record->command.order)) return;
  const Rank named = record->command.ranks.empty() ? ranks : Rank(record->command.ranks.size());
  record->over = ++record->released >= named;
}

CommandRecord* CommandLog::find(wire::CommandId id) {
  const auto found = numbers_.find(id);
  return found == numbers_.end() ? nullptr : &records_[std::size_t(found->second - forgotten_)];
}

CommandRecord& CommandLog::record_of(const wire::Command& command, Nanoseconds at) {
  if (CommandRecord* known = find(command.id)) return *known;
  while (!records_.empty() && (records_.size() >= kKept || ranks_kept_ + command.ranks.size() > kRanksKept))
    forget_oldest();
  ranks_kept_ += command.ranks.size();
  numbers_[command.id] = forgotten_ + records_.size();
  CommandRecord& record = records_.emplace_back();
  record.command = command;
  record.sent = at;
  return record;
}

void CommandLog::forget_oldest() {
  ranks_kept_ -= records_.front().command.ranks.size();
  numbers_.erase(records_.front().command.id);
  records_.pop_front();
  ++forgotten_;
}

}  // namespace idlewave::timeline
