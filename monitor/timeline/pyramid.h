#pragma once
// Shares of time of one lane in buckets of 2^20 ns (about 1 ms), 2^21 ns, 2^22 ns and so on: what remains when events
// are forgotten, and what a picture is summed from. A ring of the latest buckets for each width.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "monitor/timeline/event_store.h"

namespace idlewave::timeline {

/// Share of each category in 255ths of the bucket. What is missing to 255 is no data.
using Bucket = std::array<std::uint8_t, kCategories>;

/// A stretch of time with the same shares throughout.
struct Piece {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::array<float, kCategories> shares{};
};

/// Owned by a Lane. Filled in order of time, from start() on without gaps. Times are nanoseconds of lane time.
class Pyramid {
 public:
  static constexpr int kBaseShift = 20;
  static constexpr int kLevels = 28;  ///< The widest bucket takes 39 h.
  static constexpr int shift(int level) { return kBaseShift + level; }

  void start(std::int64_t time);
  /// The lane was in `category` (or kNoData) from where the last call ended until `to`. Keeps at most `limit` buckets
  /// of each width, a power of two. Amortised O(1) for each bucket passed, and O(limit) for each width at most.
  void add(int category, std::int64_t to, std::uint32_t limit) {
    if (to >= border_) pass_borders(category, to, limit);
    count(category, to);
  }
  /// Nobody reads before something has been added that ends at `time`: buckets that `limit`, which stays the same, will
  /// have forgotten by then are not made. O(levels).
  void skip_to(std::int64_t time, std::uint32_t limit);
  void trim(std::uint32_t limit);  ///< Forgets what is beyond `limit` buckets a level.

  const Times& times() const { return times_; }  ///< In each category since the start.
  int levels() const { return int(levels_.size()); }
  std::size_t bytes() const { return bytes_ + levels_.capacity() * sizeof(Level); }

  /// Complete buckets of a level that are kept: [kept_from, open). Bucket i covers [i, i + 1) << shift(level).
  std::int64_t kept_from(int level) const {
    return levels_[std::size_t(level)].open - levels_[std::size_t(level)].kept;
  }
  std::int64_t open(int level) const { return levels_[std::size_t(level)].open; }
  /// Calls visit(first index, span of buckets) for the kept buckets [from, to), in one piece or two.
  template <class Visit>
  void for_each_run(int level, std::int64_t from, std::int64_t to, Visit visit) const;

  /// All that was added after the last complete bucket of `level`, without touching a ring.
  Piece open_piece(int level) const;

  void prefetch_level(int level) const {
    if (!levels_.empty()) __builtin_prefetch(&levels_[std::size_t(std::min(level, levels() - 1))]);
  }
  void prefetch_buckets(int level, std::int64_t from, std::int64_t to) const;

  /// How wide pieces may be: buckets up to level `widest` are taken whole where they lie inside the window; those that
  /// its border cuts are split down to level `finest`. Where narrower buckets have been forgotten, wider ones stand in.
  struct Detail {
    int finest = 0;
    int widest = kLevels;
  };
  /// Calls emit(Piece) for the parts of [from, to) of which something is kept, in order.
  template <class Emit>
  void for_each_piece(std::int64_t from, std::int64_t to, Detail detail, Emit emit) const {
    if (levels_.empty()) return;
    const int top = levels() - 1;
    const std::int64_t last = std::min(open(top), to >> shift(top));
    for (std::int64_t i = std::max(kept_from(top), from >> shift(top)); i <= last; ++i)
      descend(top, i, from, to, detail, emit);
  }

 private:
  /// A cache line: a picture reads one of each lane.
  struct alignas(64) Level {
    std::unique_ptr<Bucket[]> ring;  ///< Bucket i at i & (capacity - 1).
    std::int64_t open = 0;           ///< Index of the bucket that is not complete.
    std::uint32_t capacity = 0;
    std::uint32_t kept = 0;  ///< Complete ones.
    Times before{};          ///< times() when the open bucket began.
    Bucket& at(std::int64_t index) const { return ring[std::size_t(index & (std::int64_t(capacity) - 1))]; }
  };
  static_assert(sizeof(Level) == 64);

  void pass_borders(int category, std::int64_t to, std::uint32_t limit);
  void complete(int category, std::int64_t to, std::uint32_t limit);
  void count(int category, std::int64_t to) {
    times_[std::size_t(category)] += to - end_;
    end_ = to;
  }
  void set_border(std::uint32_t limit);
  /// When the oldest bucket of a level begins that will be kept.
  std::int64_t skipped_until(int level, std::uint32_t limit) const {
    return ((skip_to_ >> shift(level)) - limit) << shift(level);
  }
  void push(Level& level, Bucket first, Bucket then, std::int64_t count, std::uint32_t limit);
  void resize(Level& level, std::uint32_t capacity);
  /// Nothing of bucket `index` of this level would be missing in the buckets of the level below.
  bool finer_kept(int level, std::int64_t index) const {
    return level > 0 && kept_from(level - 1) <= std::max(index * 2, start_ >> shift(level - 1));
  }
  template <class Emit>
  void descend(int level, std::int64_t index, std::int64_t from, std::int64_t to, Detail detail, Emit& emit) const;
  Piece complete_piece(int level, std::int64_t index) const;

  std::vector<Level> levels_;  ///< One more as soon as the widest has a complete bucket.
  Times times_{};
  std::int64_t start_ = 0;
  std::int64_t end_ = 0;
  std::int64_t border_ = 0;   ///< Where the first open bucket ends, or a level goes on that is skipped.
  std::int64_t skip_to_ = 0;  ///< As told last.
  int finest_ = 0;            ///< Levels below it are skipped until then.
  std::size_t bytes_ = 0;     ///< Of the rings.
};

template <class Visit>
void Pyramid::for_each_run(int level, std::int64_t from, std::int64_t to, Visit visit) const {
  const Level& l = levels_[std::size_t(level)];
  while (from < to) {
    const std::int64_t place = from & (std::int64_t(l.capacity) - 1);
    const std::int64_t count = std::min(to - from, l.capacity - place);
    visit(from, std::span<const Bucket>(&l.ring[std::size_t(place)], std::size_t(count)));
    from += count;
  }
}

template <class Emit>
void Pyramid::descend(int level, std::int64_t index, std::int64_t from, std::int64_t to, Detail detail,
                      Emit& emit) const {
  const Level& l = levels_[std::size_t(level)];
  const std::int64_t begin = index << shift(level);
  const std::int64_t end = begin + (std::int64_t{1} << shift(level));
  if (end <= from || begin >= to || index > l.open) return;
  const bool open = index == l.open;
  const bool inside = begin >= from && end <= to;
  const bool whole = level <= detail.finest || (inside && level <= detail.widest);
  if (!open && (whole || !finer_kept(level, index))) {
    if (index < l.open - l.kept) return;
    Piece piece = complete_piece(level, index);
    piece.from = std::max(piece.from, from);
    piece.to = std::min(piece.to, to);
    if (piece.from < piece.to) emit(piece);
    return;
  }
  if (level > 0) {
    descend(level - 1, index * 2, from, to, detail, emit);
    return descend(level - 1, index * 2 + 1, from, to, detail, emit);
  }
  Piece piece = open_piece(0);
  piece.from = std::max(piece.from, from);
  piece.to = std::min(piece.to, to);
  if (piece.from < piece.to) emit(piece);
}

}  // namespace idlewave::timeline
