#pragma once
// How much a search may do before others have their turn: counted in what it does, since nothing here knows a clock.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace idlewave::analysis {

/// Looks at the posts of ranks; at the post of a partner, too.
class LookBudget {
 public:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  /// Some 10 ms: no stop of a screen that is seen.
  static constexpr std::uint64_t kAtOnce = 6'000'000;

  explicit LookBudget(std::uint64_t looks = kUnlimited) : left_(looks) {}

  void spend(std::uint64_t looks) { left_ -= std::min(left_, looks); }
  bool is_spent() const { return left_ == 0; }
  bool covers(std::uint64_t looks) const { return looks <= left_; }

 private:
  std::uint64_t left_;
};

}  // namespace idlewave::analysis
