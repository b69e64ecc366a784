#include "monitor/timeline/partner_log.h"

#include <algorithm>

namespace idlewave::timeline {

using wire::Rank;
using wire::Step;

PartnerLog::Followed PartnerLog::announced(Rank rank, Step from, Followed before, std::uint32_t now) {
  const Change* const latest = latest_of(rank);
  if (latest != nullptr && latest->is_announced) return {now, false, from};
  return add(rank, {from, before, true}, now);
}

void PartnerLog::forget(Rank rank) {
  const auto known = ranks_.find(rank);
  if (known == ranks_.end()) return;
  bytes_ -= kBytesOfRank + known->second.capacity() * sizeof(Change);
  ranks_.erase(known);
}

const PartnerLog::Change* PartnerLog::latest_of(Rank rank) const {
  const auto known = ranks_.find(rank);
  return known == ranks_.end() ? nullptr : &known->second.back();
}

const PartnerLog::Followed& PartnerLog::earliest_of(Rank rank, const Followed& now) const {
  const auto known = ranks_.find(rank);
  return known == ranks_.end() ? now : known->second.front().before;
}

/// The latest change. What the rank followed before.
PartnerLog::Followed PartnerLog::take_back(Rank rank) {
  Changes& changes = ranks_.find(rank)->second;
  const Followed before = changes.back().before;
  changes.pop_back();
  if (changes.empty()) forget(rank);
  return before;
}

/// What is said first holds for what was before as well, so that there is no change. Of steps that are counted again what
/// was said last counts.
PartnerLog::Followed PartnerLog::add(Rank rank, Change change, std::uint32_t now) {
  for (const Change* latest = latest_of(rank); latest != nullptr && latest->from >= change.from;
       latest = latest_of(rank))
    change.before = take_back(rank);
  if (change.before.cycle == now) return change.before;
  Followed follows{now, false, change.from};
  if (const auto known = ranks_.find(rank); known != ranks_.end()) {
    make_room_for_one_more(known->second);
    known->second.push_back(change);
  } else if (change.before.cycle == 0) {
    follows.is_before_forgotten = change.before.is_before_forgotten;
  } else if (make_room(kBytesOfRank + sizeof(Change))) {
    ranks_[rank].assign(1, change);
    bytes_ += kBytesOfRank + sizeof(Change);
  } else {
    follows.is_before_forgotten = true;
  }
  return follows;
}

/// All ranks have to keep fewer where the budget is spent.
bool PartnerLog::make_room(std::uint64_t bytes) {
  while (bytes_ + bytes > budget_ && most_of_rank_ > kFewestOfRank) {
    most_of_rank_ /= 2;
    for (auto& [rank, changes] : ranks_) {
      if (changes.capacity() <= most_of_rank_) continue;
      forget_all_but(most_of_rank_, changes);
      resize_to(most_of_rank_, changes);
    }
  }
  return bytes_ + bytes <= budget_;
}

/// Those who have no room for more forget an eighth of theirs at once, so that a change costs the same however many are kept.
void PartnerLog::make_room_for_one_more(Changes& changes) {
  const auto is_full = [&] { return changes.size() == changes.capacity(); };
  const auto may_grow = [&] { return is_full() && changes.size() < most_of_rank_; };
  if (may_grow() && make_room(changes.size() * sizeof(Change)) && may_grow()) resize_to(2 * changes.size(), changes);
  if (is_full()) forget_all_but(changes.size() - std::max<std::size_t>(1, changes.size() / 8), changes);
}

void PartnerLog::forget_all_but(std::size_t latest, Changes& changes) {
  if (changes.size() <= latest) return;
  const auto kept = changes.end() - std::ptrdiff_t(latest);
  if (latest > 0) kept->before.is_before_forgotten = true;
  changes.erase(changes.begin(), kept);
}

/// The room of a list.
void PartnerLog::resize_to(std::size_t most, Changes& changes) {
  Changes moved;
  moved.reserve(most);
  moved.assign(changes.begin(), changes.end());
  bytes_ += moved.capacity() * sizeof(Change);
  bytes_ -= changes.capacity() * sizeof(Change);
  changes = std::move(moved);
}

std::uint32_t PartnerLog::cycle_in(Rank rank, Step step, Followed now) const {
  const auto known = ranks_.find(rank);
  if (known != ranks_.end()) {
    const auto next = std::ranges::upper_bound(known->second, step, {}, &Change::from);
    if (next != known->second.end()) now = next->before;
  }
  return now.is_before_forgotten && step < now.since ? 0 : now.cycle;
}

Step PartnerLog::silent_steps(Rank rank, Step first, Step end, Followed now) const {
  Step silent = 0;
  const auto add = [&](const Followed& followed, Step from, Step to) {
    if (followed.cycle != 0 && followed.is_before_forgotten) to = std::min(to, followed.since);
    if (followed.cycle == 0 || followed.is_before_forgotten) silent += std::max<Step>(0, to - from);
  };
  if (const auto known = ranks_.find(rank); known != ranks_.end()) {
    for (const Change& change : known->second) {
      const Step to = std::clamp(change.from, first, end);
      add(change.before, first, to);
      first = to;
    }
  }
  add(now, first, end);
  return silent;
}

std::optional<Step> PartnerLog::forgotten_before(Rank rank, Followed now) const {
  const Followed& earliest = earliest_of(rank, now);
  return earliest.is_before_forgotten ? std::optional(earliest.since) : std::nullopt;
}

std::vector<Step> PartnerLog::steps() const {
  std::vector<Step> steps;
  for (const auto& [rank, changes] : ranks_)
    for (const Change& change : changes) steps.push_back(change.from);
  std::ranges::sort(steps);
  steps.erase(std::ranges::unique(steps).begin(), steps.end());
  return steps;
}

}  // namespace idlewave::timeline
