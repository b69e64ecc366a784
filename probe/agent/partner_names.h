#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "probe/shm/partner_book.h"
#include "probe/wire/frame.h"

namespace idlewave::agent {

/// Numbers of the patterns and cycles by which the node's ranks wait, one table for the node: ranks that wait for the
/// same distances share them. What ranks say counts against the limits of a roster; beyond them nothing is taken.
class PartnerNames {
 public:
  /// Its place in patterns(); nothing where there is no room.
  std::optional<std::uint32_t> number_of(const wire::WaitPattern& pattern);
  /// Its place in cycles(), from 1; 0 where there is no room.
  std::uint32_t number_of(const wire::WaitCycle& cycle);

  const std::vector<wire::WaitPattern>& patterns() const { return patterns_; }
  const std::vector<wire::WaitCycle>& cycles() const { return cycles_; }

 private:
  /// Of all ranks of a node, so that a roster stays far below the size of a frame.
  static constexpr std::size_t kMostEntries = wire::kMaxPatternEntries / 4;

  using Numbers = std::map<std::vector<std::int64_t>, std::uint32_t>;  ///< By what a pattern or a cycle says.
  template <class T>
  std::optional<std::uint32_t> number_in(std::vector<T>& all, Numbers& numbers, const T& wanted);

  std::vector<wire::WaitPattern> patterns_;
  std::vector<wire::WaitCycle> cycles_;
  Numbers pattern_numbers_, cycle_numbers_;
  std::size_t entries_ = 0;
};

/// One rank's numbers turned into the node's.
class PartnerMap {
 public:
  struct Place {
    wire::Rank rank = 0;
    wire::Rank world_size = 1;
  };
  /// 0 for a cycle that the rank has not defined as it should have, or for which there is no room.
  std::uint32_t translate(std::uint64_t cycle, const shm::PartnerBook& book, Place place, PartnerNames& names);

 private:
  std::uint32_t look_up(std::uint32_t cycle, const shm::PartnerBook& book, Place place, PartnerNames& names);

  std::array<std::optional<std::uint32_t>, shm::kCycles> known_{};
};

}  // namespace idlewave::agent
