#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

using wire::Nanoseconds;
using wire::Rank;

/// Batches of events in the order in which they came, to be had rank by rank. Events and names are borrowed. Owned by
/// Timeline.
class ByRank {
 public:
  using Number = std::uint64_t;  ///< Of a batch: how many had come before it, ever.

  /// Not of none.
  void add(const std::string& node, Rank rank, std::span<const wire::Event> events);
  Number first() const { return first_; }                   ///< Of those that are there.
  Number next() const { return first_ + batches_.size(); }  ///< Of the batch that will be added next.
  /// Those of which there is something.
  const std::vector<Rank>& ranks() const { return ranks_; }
  /// There is something of the rank before that one.
  bool has_before(Number end, Rank rank) const {
    const Chain& chain = chains_[std::size_t(rank)];
    return chain.node != nullptr && chain.first < end;
  }
  /// Node's clock, of the last event; min() where there is none.
  Nanoseconds until(Rank rank) const {
    return std::size_t(rank) < chains_.size() ? chains_[std::size_t(rank)].until : Nanoseconds::min();
  }
  const std::string& node(Rank rank) const { return *chains_[std::size_t(rank)].node; }

  /// Takes those of a rank away that came before batch `end`: calls visit(number, events) for each, in order.
  template <class Visit>
  void take(Rank rank, Number end, Visit visit) {
    Chain& chain = chains_[std::size_t(rank)];
    while (chain.first < end) {
      const Batch& batch = batches_[std::size_t(chain.first - first_)];
      prefetch_behind(batch);
      visit(chain.first, std::span(batch.events, batch.count));
      if (batch.to_next == 0) return void(chain = {});
      chain.first += batch.to_next;
    }
  }
  /// All of them have been taken that came before batch `end`.
  void drop_before(Number end);

 private:
  struct Batch {
    const wire::Event* events;
    std::uint32_t count;
    std::uint32_t to_next = 0;  ///< So many further on is the next one of the same rank; 0: there is none.
  };
  struct Chain {
    Number first = 0, last = 0;
    Nanoseconds until = Nanoseconds::min();
    const std::string* node = nullptr;  ///< Null: nothing of this rank.
  };
  /// Of a frame that names its ranks in order, the next rank's.
  static void prefetch_behind(const Batch& batch) {
    constexpr std::size_t kEventsALine = 64 / sizeof(wire::Event);
    __builtin_prefetch(batch.events + batch.count + kEventsALine);
    __builtin_prefetch(&batch + 4);
  }

  std::vector<Chain> chains_;  ///< By rank.
  std::vector<Batch> batches_;
  Number first_ = 0;  ///< Of batches_.
  std::vector<Rank> ranks_;
};

}  // namespace idlewave::timeline
