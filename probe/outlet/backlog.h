#pragma once
// The stream of one sender as encoded frames, numbered from 1 without gaps, kept until every consumer has them or the
// budget is used up.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace idlewave::outlet {

/// One thread.
class Backlog {
 public:
  /// Told about each frame that is forgotten, before it is.
  using Forgets = std::function<void(std::span<const std::byte>)>;
  explicit Backlog(std::uint64_t budget_bytes, Forgets forgets = {})
      : budget_(budget_bytes), forgets_(std::move(forgets)) {}

  /// Gives the frame number next(). Beyond the budget the oldest frames go, the newest one never does. A frame that
  /// can't travel is appended as an empty one: its number is used up, so that its loss shows.
  void append(std::vector<std::byte> frame);
  void drop_below(std::uint64_t sequence);  ///< Forgets what every consumer has.

  std::uint64_t first() const { return first_; }                  ///< Oldest number kept; next() if none is.
  std::uint64_t next() const { return first_ + frames_.size(); }  ///< Number of the frame that comes next.
  std::uint64_t bytes() const { return bytes_; }
  std::span<const std::byte> frame(std::uint64_t sequence) const {
    return frames_[sequence - first_];
  }  ///< In [first, next).

 private:
  void drop_oldest();

  std::uint64_t budget_;
  Forgets forgets_;
  std::uint64_t bytes_ = 0;
  std::uint64_t first_ = 1;
  std::deque<std::vector<std::byte>> frames_;
};

}  // namespace idlewave::outlet
