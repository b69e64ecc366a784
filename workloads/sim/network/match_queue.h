#pragma once
// Receives without a message, or messages without a receive, of one rank.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workloads/sim/network/goal_schedule.h"

namespace idlewave::sim::network {

/// In the order in which they came; of those that fit, the first is taken. A source or tag that stands for any fits
/// all, on either side. Cost of take: the number of entries up to the one that fits, 12 bytes each; add: amortised
/// O(1).
class MatchQueue {
 public:
  struct Entry {
    Rank source = 0;
    Tag tag = 0;
    OpId op = kTaken;
  };
  static constexpr OpId kTaken = ~OpId{0};

  void add(Entry entry) { entries_.push_back(entry); }

  std::optional<OpId> take(Rank source, Tag tag) {
    for (std::size_t i = first_; i < entries_.size(); ++i)
      if (Entry& entry = entries_[i]; fits(entry, source, tag)) {
        const OpId op = entry.op;
        entry.op = kTaken;
        drop_taken(i == first_);
        return op;
      }
    return {};
  }

  /// What is left; entries whose op is kTaken are gone.
  std::span<const Entry> entries() const { return std::span(entries_).subspan(first_); }

 private:
  static bool fits(const Entry& entry, Rank source, Tag tag) {
    return ((entry.source == source) | (entry.source == kAnySource) | (source == kAnySource)) &&
           ((entry.tag == tag) | (entry.tag == kAnyTag) | (tag == kAnyTag)) && entry.op != kTaken;
  }

  void drop_taken(bool at_front) {
    if (at_front)
      while (first_ < entries_.size() && entries_[first_].op == kTaken) ++first_;
    else
      ++holes_;
    if (first_ == entries_.size()) entries_.clear(), first_ = holes_ = 0;
    if (first_ + holes_ > 32 && first_ + holes_ > entries_.size() / 2) compact();
  }

  void compact() {
    std::erase_if(entries_, [](const Entry& entry) { return entry.op == kTaken; });
    first_ = holes_ = 0;
  }

  std::vector<Entry> entries_;
  std::uint32_t first_ = 0;  ///< All before are taken.
  std::uint32_t holes_ = 0;  ///< Taken ones after, or a few more.
};

}  // namespace idlewave::sim::network
