#pragma once

#include <cstdint>
#include <span>

#include "probe/mpi/partner.h"
#include "probe/shm/partner_book.h"

namespace idlewave::mpi::habits {

/// Whom waits of a rank depended on, each such set of partners once, under a number. A wait is told partner by partner,
/// in any order, each as often as there are messages; one that has come before is found by the sum of its partners'
/// hashes, so that it costs some nanoseconds a partner. No allocation; one thread.
///
/// Waits are told apart by hashes of 64 bits.
class WaitPatterns {
 public:
  static constexpr std::uint32_t kMostPatterns = 256;
  static constexpr std::uint32_t kMostRanks = 16384;                      ///< In all patterns.
  static constexpr std::uint32_t kMostPartners = 2 * shm::kPatternRanks;  ///< Of one wait, messages counted.
  static constexpr std::uint16_t kUnknown = 0xffff;                       ///< No pattern.

  struct Pattern {
    std::uint64_t content = 0;  ///< A hash; the same for the same partners, whenever they are met.
    std::uint32_t first = 0;    ///< In the ranks of all.
    std::uint32_t sources = 0, targets = 0;
    std::uint32_t flags = 0;  ///< Of shm::PartnerBook.
  };

  /// The wait that goes on depends on this partner as well; kFrom, kTo, kToWaiting or kToPerhaps.
  void add(Partner partner) {
    if (count_ == kMostPartners) [[unlikely]] {
      is_lost_ = true;
      return;
    }
    // Field by field: the whole would go through the stack.
    Partner& added = partners_[count_++];
    added.rank = partner.rank;
    added.side = partner.side;
    sum_ += hash_of(partner);
  }
  bool is_empty() const { return count_ == 0 && !is_lost_; }

  /// The wait is over. Its pattern; kUnknown where it can't be kept. Where there was no room for another pattern all are
  /// forgotten first, and `forgotten` counts that.
  std::uint16_t end_wait() {
    if (is_lost_) [[unlikely]]
      return give_up_wait();
    const std::uint16_t known = find(sum_);
    const std::uint16_t number = known != kUnknown ? known : learn(sum_);
    count_ = 0;
    sum_ = 0;
    return number;
  }

  /// The pattern that has been found or learnt by that key: a hash of whatever stands for it. kUnknown: none.
  std::uint16_t find(std::uint64_t key) const {
    const Key& place = keys_[key % kPlaces];
    return place.key == key ? place.number : kUnknown;
  }
  /// Between two waits: all of MPI_COMM_WORLD where there are no ranks and `flags` has kCollective; without it, those that
  /// it receives from. kUnknown where that can't be kept.
  std::uint16_t learn_group(std::uint64_t key, std::span<const wire::Rank> ranks, std::uint32_t flags);

  const Pattern& operator[](std::uint16_t number) const { return patterns_[number]; }
  std::span<const wire::Rank> sources_of(const Pattern& pattern) const {
    return {ranks_ + pattern.first, pattern.sources};
  }
  std::span<const wire::Rank> targets_of(const Pattern& pattern) const {
    return {ranks_ + pattern.first + pattern.sources, pattern.targets};
  }
  std::uint32_t forgotten() const { return forgotten_; }

  /// Of 64 bits, none of which is left alone.
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
  }

 private:
  static constexpr std::uint32_t kPlaces = 1024;  ///< Of keys.
  struct Key {
    std::uint64_t key = 0;  ///< 0: none.
    std::uint16_t number = 0;
  };

  static std::uint64_t hash_of(Partner partner) {
    return mix(static_cast<std::uint64_t>(partner.rank) << 8 | static_cast<std::uint64_t>(partner.side) << 1 | 1);
  }
  std::uint16_t give_up_wait();
  std::uint16_t learn(std::uint64_t key);
  std::uint16_t keep(std::uint64_t key, std::uint32_t sources, std::uint32_t targets, std::uint32_t flags);
  void forget();

  std::uint64_t sum_ = 0;
  std::uint32_t count_ = 0;
  bool is_lost_ = false;  ///< Of the wait that goes on.
  std::uint32_t size_ = 0;
  std::uint32_t ranks_taken_ = 0;
  std::uint32_t forgotten_ = 0;
  Key keys_[kPlaces] = {};  ///< One in each place; another one that belongs there takes it.
  Pattern patterns_[kMostPatterns] = {};
  Partner partners_[kMostPartners] = {};
  wire::Rank ranks_[kMostRanks] = {};
};

}  // namespace idlewave::mpi::habits
