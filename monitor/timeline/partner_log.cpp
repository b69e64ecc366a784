#include "monitor/timeline/partner_log.h"

#include <set>

namespace idlewave::timeline {

using wire::Rank;
using wire::Step;

void PartnerLog::announced(Rank rank, Step from, Followed before) {
  const Change* const latest = latest_of(rank);
  if (latest == nullptr || !latest->is_announced) add(rank, {from, before, true});
}

const PartnerLog::Change* PartnerLog::latest_of(Rank rank) const {
  const auto known = ranks_.find(rank);
  return known == ranks_.end() ? nullptr : &known->second.back();
}

/// The latest change. What the rank followed before.
PartnerLog::Followed PartnerLog::take_back(Rank rank) {
  const auto known = ranks_.find(rank);
  const Followed before = known->second.back().before;
  known->second.pop_back();
  if (known->second.empty()) ranks_.erase(known);
  return before;
}

/// What is said first holds for what was before as well, so that there is no change.
void PartnerLog::add(Rank rank, Change change) {
  const auto known = ranks_.find(rank);
  if (known != ranks_.end()) {
    if (known->second.size() == kMostOfRank) known->second.erase(known->second.begin());
    known->second.push_back(change);
  } else if (change.before.cycle != 0 && bytes() + kBytesOfRank <= budget_) {
    ranks_[rank].push_back(change);
  }
}

std::optional<std::uint32_t> PartnerLog::cycle_in(Rank rank, Step step) const {
  const auto known = ranks_.find(rank);
  if (known == ranks_.end()) return std::nullopt;
  for (const Change& change : known->second)
    if (step < change.from) return change.before.cycle;
  return std::nullopt;
}

std::vector<Step> PartnerLog::steps() const {
  std::set<Step> steps;
  for (const auto& [rank, changes] : ranks_)
    for (const Change& change : changes) steps.insert(change.from);
  return {steps.begin(), steps.end()};
}

}  // namespace idlewave::timeline
