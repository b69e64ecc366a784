#pragma once

#include <cstdint>
#include <deque>

#include "monitor/timeline/records.h"

namespace idlewave::timeline {

/// Losses in the order in which they were noticed. A run of one kind and place is one entry, so that a broken sender
/// can't flood it; beyond a fixed number of entries the oldest are forgotten, their counts are not.
class LossLog {
 public:
  void add(Loss loss);
  const std::deque<Loss>& all() const { return losses_; }
  std::uint64_t dropped() const { return dropped_; }  ///< Events lost, with the frames of gaps as one each.
  /// Holes (is_hole) that are not in all() any more.
  std::uint64_t holes_forgotten() const { return holes_forgotten_; }
  std::size_t bytes() const { return losses_.size() * sizeof(Loss) + text_bytes_; }

 private:
  Loss* run_of(const Loss& loss);

  std::deque<Loss> losses_;
  std::uint64_t dropped_ = 0;
  std::uint64_t holes_forgotten_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace idlewave::timeline
