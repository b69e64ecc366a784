#include "monitor/timeline/command_log.h"

#include <algorithm>

namespace idlewave::timeline {
namespace {

constexpr std::size_t kCommandsKept = 1024;
constexpr std::size_t kRanksKept = 1 << 22;
constexpr std::size_t kHoldsKept = 1 << 17;
constexpr std::size_t kHoldsBytes = 96;  ///< Of a node of the map.

/// True if what `by` orders takes the place of `command`: cleared, or noise replaced by other noise.
bool supersedes(const wire::Command& by, const CommandRecord& record) {
  const auto* clear = std::get_if<wire::ClearOrder>(&by.order);
  const bool clears = clear != nullptr;
  if (clears && clear->noise_of != 0) return record.command.id == clear->noise_of;
  if (by.id == record.command.id || (!clears && !std::holds_alternative<wire::NoiseOrder>(by.order))) return false;
  if (!by.ranks.empty() && by.ranks != record.command.ranks) return false;
  if (std::holds_alternative<wire::NoiseOrder>(record.command.order)) return true;
  return clears && !record.in_effect;
}

}  // namespace

Nanoseconds CommandRecord::began() const {
  Nanoseconds first = Nanoseconds::max();
  for (const auto& [clock, of_node] : holds)
    if (of_node.first_began) first = std::min(first, clock->session_time(*of_node.first_began));
  return first;
}

Nanoseconds CommandRecord::ended() const {
  if (superseded) return *superseded;
  Nanoseconds last = Nanoseconds::min();
  for (const auto& [clock, of_node] : holds)
    if (of_node.last_ended) last = std::max(last, clock->session_time(*of_node.last_ended));
  return last;
}

void CommandLog::add_sent(const wire::Command& command, Moment at) { record_of(command, at); }

void CommandLog::add_outcome(const wire::Outcome& outcome, Moment at, const NodeClock* clock) {
  CommandRecord& record = record_of(outcome.command, at);
  record.answered = true;
  record.accepted |= outcome.accepted;  // several nodes may answer, each for its own ranks
  if (!outcome.accepted) record.reason = outcome.reason;
  if (!outcome.accepted) return;
  const auto* noise = std::get_if<wire::NoiseOrder>(&outcome.command.order);
  if (noise != nullptr && noise->ends_with_giver) holds_of(record, clock).stands = true;
  if (!stands_elsewhere(outcome.command, clock)) supersede(outcome.command, at);
}

/// Of noise that ends since who gave it has gone: each node loses him by itself, and that of the others goes on.
bool CommandLog::stands_elsewhere(const wire::Command& ending, const NodeClock* ended_at) {
  const auto* clear = std::get_if<wire::ClearOrder>(&ending.order);
  CommandRecord* noise = clear != nullptr && clear->noise_of != 0 ? find(clear->noise_of) : nullptr;
  if (noise == nullptr) return false;
  if (const auto here = noise->holds.find(ended_at); here != noise->holds.end()) here->second.stands = false;
  return std::ranges::any_of(noise->holds, [](const auto& of_node) { return of_node.second.stands; });
}

void CommandLog::supersede(const wire::Command& by, Moment at) {
  for (CommandRecord& record : records_) {
    if (record.over || !supersedes(by, record)) continue;
    record.over = true;
    record.superseded = at;
    record.superseded_by = by.id;
  }
}

void CommandLog::hold_began(wire::CommandId id, const NodeClock& clock, Nanoseconds at) {
  CommandRecord* record = find(id);
  if (record == nullptr) return;
  record->in_effect = true;
  auto& first = holds_of(*record, &clock).first_began;
  first = std::min(first.value_or(at), at);
}

void CommandLog::hold_ended(wire::CommandId id, const NodeClock& clock, Nanoseconds at, Rank ranks) {
  CommandRecord* record = find(id);
  if (record == nullptr || record->over) return;
  auto& last = holds_of(*record, &clock).last_ended;
  last = std::max(last.value_or(at), at);
  if (!std::holds_alternative<wire::DelayOrder>(record->command.order)) return;
  const Rank named = record->command.ranks.empty() ? ranks : Rank(record->command.ranks.size());
  record->over = ++record->released >= named;
}

/// Of `record`, which stays; there may be one for each node.
CommandRecord::Holds& CommandLog::holds_of(CommandRecord& record, const NodeClock* clock) {
  const auto [place, is_new] = record.holds.try_emplace(clock);
  if (is_new) ++holds_kept_;
  while (holds_kept_ > kHoldsKept && &records_.front() != &record) forget_oldest();
  return place->second;
}

CommandRecord* CommandLog::find(wire::CommandId id) {
  const auto found = numbers_.find(id);
  return found == numbers_.end() ? nullptr : &records_[std::size_t(found->second - forgotten_)];
}

CommandRecord& CommandLog::record_of(const wire::Command& command, Moment at) {
  if (CommandRecord* known = find(command.id)) return *known;
  while (!records_.empty() && (records_.size() >= kCommandsKept || ranks_kept_ + command.ranks.size() > kRanksKept))
    forget_oldest();
  ranks_kept_ += command.ranks.size();
  numbers_[command.id] = forgotten_ + records_.size();
  CommandRecord& record = records_.emplace_back();
  record.command = wire::without_detours(command);
  record.sent = at;
  return record;
}

void CommandLog::forget_oldest() {
  ranks_kept_ -= records_.front().command.ranks.size();
  holds_kept_ -= records_.front().holds.size();
  numbers_.erase(records_.front().command.id);
  records_.pop_front();
  ++forgotten_;
}

std::size_t CommandLog::bytes() const {
  return records_.size() * sizeof(CommandRecord) + ranks_kept_ * sizeof(Rank) + holds_kept_ * kHoldsBytes;
}

}  // namespace idlewave::timeline
