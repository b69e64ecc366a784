#include "monitor/timeline/picture.h"

#include <algorithm>
#include <cmath>

#include "monitor/timeline/timeline.h"

namespace idlewave::timeline {
namespace {

constexpr int kLanesPerFold = 257;  ///< 257 * 255 still fits into 16 bits.
constexpr std::size_t kFewLanes = 2000;
constexpr int kFinerForFewLanes = 2;  ///< Levels: buckets of a quarter of a column.
constexpr int kEventsWorthAColumn = 4;

int level_for(double column_width, bool few_lanes) {
  const int fitting = column_width >= 1 ? std::ilogb(column_width) : 0;
  return std::clamp(fitting - (few_lanes ? kFinerForFewLanes : 0) - Pyramid::kBaseShift, 0, Pyramid::kLevels - 1);
}

void add_shares(std::span<const Bucket> buckets, std::uint16_t* __restrict sums) {
  // this, and the promise that sums are no shares, lets the compiler use vector instructions at -O2
  constexpr std::size_t kAtOnce = 16;
  const std::uint8_t* __restrict shares = buckets.data()->data();
  std::size_t left = buckets.size() * kCategories;
  for (; left >= kAtOnce; left -= kAtOnce, shares += kAtOnce, sums += kAtOnce)
    for (std::size_t i = 0; i < kAtOnce; ++i) sums[i] = std::uint16_t(sums[i] + shares[i]);
  for (std::size_t i = 0; i < left; ++i) sums[i] = std::uint16_t(sums[i] + shares[i]);
}

void add(Shares& sum, const std::array<float, kCategories>& shares, float weight) {
  for (std::size_t c = 0; c < kCategories; ++c) sum.of[c] += shares[c] * weight;
}

}  // namespace

RowSum::RowSum(Columns columns, std::size_t lanes)
    : columns_(columns),
      level_(level_for(columns.width(), lanes <= kFewLanes)),
      walks_events_(lanes <= kFewLanes),
      columns_per_ns_(1 / columns.width()),
      sums_(std::size_t(columns.count)),
      changes_(std::size_t(columns.count) + 1) {
  use_grid({});
}

void RowSum::use_grid(Nanoseconds correction) {
  fold();
  grid_.correction = correction;
  grid_.first = (columns_.from + correction).count() >> Pyramid::shift(level_);
  grid_.end = ((columns_.to + correction).count() >> Pyramid::shift(level_)) + 1;
  buckets_.assign(std::size_t(grid_.end - grid_.first) * kCategories, 0);
}

void RowSum::add(const Lane& lane) {
  if (!lane.history_) return;
  // One correction for the whole picture: over it a clock drifts by less than a hundredth of a column.
  const Nanoseconds middle = columns_.from + (columns_.to - columns_.from) / 2;
  const Nanoseconds correction = lane.clock_->lane_time(middle) - middle;
  if (correction != grid_.correction) use_grid(correction);
  const Nanoseconds from = columns_.from + correction;
  const Nanoseconds to = columns_.to + correction;
  if (is_worth_walking(lane, from, to))
    lane.for_each_exact_piece(from, to, level_, [&](const Piece& piece) { add_piece(piece); });
  else
    add_buckets(lane, from, to);
}

void RowSum::prefetch(const Lane& lane, int hop) const {
  if (hop == 0) return __builtin_prefetch(&lane);
  if (!lane.history_) return;
  const Pyramid& pyramid = lane.history_->pyramid;
  if (hop == 1) return __builtin_prefetch(&pyramid);
  if (hop == 2) return pyramid.prefetch_level(level_);
  pyramid.prefetch_buckets(level_, grid_.first, grid_.end);
}

bool RowSum::is_worth_walking(const Lane& lane, Nanoseconds from, Nanoseconds to) const {
  if (!walks_events_ || !lane.has_events_kept()) return false;
  const bool narrower_than_buckets = columns_per_ns_ * double(std::int64_t{1} << Pyramid::kBaseShift) > 1;
  return narrower_than_buckets ||
         lane.history_->events.count(from, to) <= std::size_t(columns_.count) * kEventsWorthAColumn;
}

void RowSum::add_buckets(const Lane& lane, Nanoseconds from, Nanoseconds to) {
  const Pyramid& pyramid = lane.history_->pyramid;
  const auto sum_piece = [&](const Piece& piece) { add_piece(piece); };
  if (level_ < pyramid.levels()) {
    const std::int64_t kept = pyramid.kept_from(level_);
    const std::int64_t open = pyramid.open(level_);
    if (kept > grid_.first)
      pyramid.for_each_piece(from.count(), std::min(kept << Pyramid::shift(level_), to.count()), {level_, level_},
                             sum_piece);
    add_complete(pyramid, std::max(kept, grid_.first), std::min(open, grid_.end));
    if (open < grid_.end) add_piece(pyramid.open_piece(level_));
  } else {
    add_piece(pyramid.open_piece(pyramid.levels() - 1));
  }
  lane.emit_ongoing(from, to, sum_piece);
}

void RowSum::add_complete(const Pyramid& pyramid, std::int64_t first, std::int64_t end) {
  if (first >= end) return;
  pyramid.for_each_run(level_, first, end, [&](std::int64_t index, std::span<const Bucket> run) {
    add_shares(run, &buckets_[std::size_t(index - grid_.first) * kCategories]);
  });
  if (++lanes_in_buckets_ == kLanesPerFold) fold();
}

void RowSum::add_piece(const Piece& piece) {
  const double offset = double((columns_.from + grid_.correction).count());
  const double begin = std::clamp((double(piece.from) - offset) * columns_per_ns_, 0.0, double(columns_.count));
  const double end = std::clamp((double(piece.to) - offset) * columns_per_ns_, 0.0, double(columns_.count));
  const auto first = std::size_t(begin);
  const auto last = std::size_t(end);
  if (first == last) {
    if (end > begin) timeline::add(sums_[first], piece.shares, float(end - begin));
    return;
  }
  timeline::add(sums_[first], piece.shares, float(double(first + 1) - begin));
  if (last < sums_.size()) timeline::add(sums_[last], piece.shares, float(end - double(last)));
  timeline::add(changes_[first + 1], piece.shares, 1);
  timeline::add(changes_[last], piece.shares, -1);
}

void RowSum::fold() {
  if (lanes_in_buckets_ == 0) return;
  lanes_in_buckets_ = 0;
  const int shift = Pyramid::shift(level_);
  for (std::int64_t i = grid_.first; i < grid_.end; ++i) {
    std::uint16_t* sum = &buckets_[std::size_t(i - grid_.first) * kCategories];
    Piece piece{i << shift, (i + 1) << shift, {}};
    for (std::size_t c = 0; c < kCategories; ++c) piece.shares[c] = float(sum[c]) / 255;
    add_piece(piece);
  }
  std::fill(buckets_.begin(), buckets_.end(), std::uint16_t{0});
}

void RowSum::finish(float ranks, std::span<Shares> out) {
  fold();
  Shares running;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    timeline::add(running, changes_[i].of, 1);
    for (std::size_t c = 0; c < kCategories; ++c)
      out[i].of[c] = std::clamp((sums_[i].of[c] + running.of[c]) / std::max(ranks, 1.0f), 0.0f, 1.0f);
  }
  std::fill(sums_.begin(), sums_.end(), Shares{});
  std::fill(changes_.begin(), changes_.end(), Shares{});
}

void Timeline::picture(std::span<const RankRange> rows, Nanoseconds from, Nanoseconds to, int columns,
                       std::span<Shares> out) const {
  if (columns <= 0) return;
  if (from >= to) return std::fill(out.begin(), out.end(), Shares{});
  std::size_t lanes = 0;
  for (const RankRange& row : rows) lanes += std::size_t(std::max(row.last - row.first, 0));
  RowSum sum({from, to, columns}, lanes);
  // Lanes lie anywhere in memory, each four hops away: without asking ahead most of the time is spent waiting for them.
  constexpr Rank kLead = 3;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Rank end = std::min(rows[r].last, Rank(places_.size()));
    for (Rank rank = std::max(rows[r].first, 0); rank < end; ++rank) {
      for (int hop = 0; hop < RowSum::kHops; ++hop)
        if (const Lane* ahead = lane(rank + kLead * (RowSum::kHops - hop))) sum.prefetch(*ahead, hop);
      if (const Lane* each = places_[std::size_t(rank)].lane) sum.add(*each);
    }
    sum.finish(float(rows[r].last - rows[r].first), out.subspan(r * std::size_t(columns), std::size_t(columns)));
  }
}

void Timeline::picture(std::span<const wire::ThreadId> rows, Nanoseconds from, Nanoseconds to, int columns,
                       std::span<Shares> out) const {
  if (columns <= 0) return;
  if (from >= to) return std::fill(out.begin(), out.end(), Shares{});
  RowSum sum({from, to, columns}, rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (const Lane* each = lane(rows[r])) sum.add(*each);
    sum.finish(1, out.subspan(r * std::size_t(columns), std::size_t(columns)));
  }
}

}  // namespace idlewave::timeline
