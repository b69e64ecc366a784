#pragma once
// How long many steps of a rank took together, without going through each of them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

/// Over steps that have ended. Nanoseconds.
struct StepSums {
  std::int64_t steps = 0;
  std::int64_t whole = 0, compute = 0;
  std::int64_t wait = 0;  ///< And communicating.
  std::int64_t delay = 0;

  friend bool operator==(const StepSums&, const StepSums&) = default;
  StepSums& operator+=(const StepSums& more) {
    steps += more.steps, whole += more.whole, compute += more.compute, wait += more.wait, delay += more.delay;
    return *this;
  }
  StepSums& operator-=(const StepSums& less) {
    steps -= less.steps, whole -= less.whole, compute -= less.compute, wait -= less.wait, delay -= less.delay;
    return *this;
  }
};

/// Owned by a Lane. Steps are counted from the first that ever began; their sums stand at every 16th.
class StepSumMarks {
 public:
  /// The next step begins.
  void begin() {
    if (begun_++ % kEvery == 0) marks_.push_back(ended_);
  }
  void end(const StepSums& step) { ended_ += step; }
  /// Of the oldest step that is kept.
  void forget_oldest() {
    if (forgotten_++ % kEvery != 0 || 2 * ++gone_ < marks_.size()) return;
    marks_.erase(marks_.begin(), marks_.begin() + std::ptrdiff_t(gone_));
    gone_ = 0;
  }

  /// Sums over the kept steps [from, to), counted from the oldest of them; all have ended. of(i): those of one of them.
  template <class Of>
  StepSums between(std::size_t from, std::size_t to, Of of) const {
    StepSums sums;
    // The first mark that is kept stands at the first step that is kept, or behind it.
    const std::size_t first = round_up(from + forgotten_), last = (to + forgotten_) / kEvery;
    if (first >= last || place(last) >= marks_.size()) return added(from, to, of);
    sums = added(from, first * kEvery - forgotten_, of);
    sums += marks_[place(last)];
    sums -= marks_[place(first)];
    return sums += added(last * kEvery - forgotten_, to, of);
  }
  std::size_t bytes() const { return marks_.capacity() * sizeof(StepSums); }

 private:
  static constexpr std::size_t kEvery = 16;
  static std::size_t round_up(std::size_t step) { return (step + kEvery - 1) / kEvery; }
  std::size_t place(std::size_t mark) const { return gone_ + mark - round_up(forgotten_); }
  template <class Of>
  static StepSums added(std::size_t from, std::size_t to, Of of) {
    StepSums sums;
    for (; from < to; ++from) sums += of(from);
    return sums;
  }

  std::vector<StepSums> marks_;  ///< Over all steps before each 16th, from the oldest that is kept on.
  std::size_t gone_ = 0;         ///< So many of these, the first, are of no use any more.
  StepSums ended_;               ///< Over all.
  std::size_t begun_ = 0, forgotten_ = 0;
};

}  // namespace idlewave::timeline
