#pragma once
// Sums lanes into rows of a picture: buckets where they are at most as wide as a column, events where those are few.

#include <cstdint>
#include <span>
#include <vector>

#include "monitor/timeline/lane.h"

namespace idlewave::timeline {

/// The time axis of a picture: `columns` equal slices of [from, to), session time.
struct Columns {
  Nanoseconds from{};
  Nanoseconds to{};
  int count = 0;
  double width() const { return double((to - from).count()) / count; }
};

/// One row under way. Used for a row after the other, so that its memory is allocated once.
class RowSum {
 public:
  /// `lanes`: how many there are in the whole picture; with few of them more is spent on each.
  RowSum(Columns columns, std::size_t lanes);

  void add(const Lane& lane);
  /// Asks for the memory that add() will read, one hop further with each of the kHops calls; between them pass other
  /// lanes.
  void prefetch(const Lane& lane, int hop) const;
  static constexpr int kHops = 4;
  /// Writes the row's mean over `ranks`, and begins the next row.
  void finish(float ranks, std::span<Shares> out);

 private:
  /// Where in the picture the buckets of the level lie, for lanes whose clocks are corrected alike.
  struct Grid {
    Nanoseconds correction{};
    std::int64_t first = 0;  ///< Index of the bucket at the picture's left edge.
    std::int64_t end = 0;
  };

  void use_grid(Nanoseconds correction);
  bool is_worth_walking(const Lane& lane, Nanoseconds from, Nanoseconds to) const;
  void add_buckets(const Lane& lane, Nanoseconds from, Nanoseconds to);
  void add_complete(const Pyramid& pyramid, std::int64_t first, std::int64_t end);  ///< Indices of buckets.
  void add_piece(const Piece& piece);
  void fold();

  Columns columns_;
  int level_ = 0;
  bool walks_events_ = false;
  double columns_per_ns_ = 0;
  Grid grid_;
  std::vector<std::uint16_t> buckets_;  ///< Sums of the level's shares: kCategories for each bucket of the grid.
  int lanes_in_buckets_ = 0;
  std::vector<Shares> sums_;     ///< By column.
  std::vector<Shares> changes_;  ///< By column: what is to be added to it and to all after it.
};

}  // namespace idlewave::timeline
