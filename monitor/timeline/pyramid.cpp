#include "monitor/timeline/pyramid.h"

#include <bit>

namespace idlewave::timeline {
namespace {

constexpr std::uint32_t kFirstCapacity = 8;

/// Rounds the running sum, not each share, so that the shares never exceed 255 together.
Bucket quantise(const Times& before, const Times& until, int shift) {
  Bucket bucket{};
  std::int64_t sum = 0;
  std::int64_t rounded = 0;
  for (std::size_t c = 0; c < kCategories; ++c) {
    sum += until[c] - before[c];
    const std::int64_t next = (sum * 255 + (std::int64_t{1} << (shift - 1))) >> shift;
    bucket[c] = std::uint8_t(next - rounded);
    rounded = next;
  }
  return bucket;
}

Bucket all_of(int category) {
  Bucket bucket{};
  if (category != kNoData) bucket[std::size_t(category)] = 255;
  return bucket;
}

}  // namespace

void Pyramid::start(std::int64_t time) {
  levels_.resize(1);
  levels_[0].open = time >> kBaseShift;
  start_ = end_ = time;
  border_ = (levels_[0].open + 1) << kBaseShift;
}

/// Completes the buckets that end until `to`, of each level as many as there are, and begins the next ones.
void Pyramid::pass_borders(int category, std::int64_t to, std::uint32_t limit) {
  const auto at = [&](std::int64_t time) {
    Times times = times_;
    times[std::size_t(category)] += time - end_;
    return times;
  };
  for (int level = 0; level < levels() && to >> shift(level) != levels_[std::size_t(level)].open; ++level) {
    close(level, at((levels_[std::size_t(level)].open + 1) << shift(level)), limit);
    Level& l = levels_[std::size_t(level)];
    if (const std::int64_t whole = (to >> shift(level)) - l.open; whole > 0)
      push_run(l, all_of(category), whole, limit);
    l.before = at(l.open << shift(level));
  }
  border_ = (levels_[0].open + 1) << kBaseShift;
}

void Pyramid::close(int level, const Times& until, std::uint32_t limit) {
  if (level + 1 == levels() && level + 1 < kLevels) levels_.emplace_back().open = levels_[std::size_t(level)].open >> 1;
  Level& closed = levels_[std::size_t(level)];
  push_run(closed, quantise(closed.before, until, shift(level)), 1, limit);
}

void Pyramid::push_run(Level& level, const Bucket& bucket, std::int64_t count, std::uint32_t limit) {
  const auto wanted = std::uint32_t(std::min<std::int64_t>(level.kept + count, limit));
  if (wanted > level.capacity) resize(level, std::min(limit, std::max(kFirstCapacity, std::bit_ceil(wanted))));
  level.open += count;
  level.kept = std::min(level.capacity, std::uint32_t(std::min<std::int64_t>(level.kept + count, level.capacity)));
  const std::int64_t stored = std::min<std::int64_t>(count, level.kept);
  for (std::int64_t i = level.open - stored; i < level.open; ++i) level.at(i) = bucket;
}

void Pyramid::resize(Level& level, std::uint32_t capacity) {
  Level old = std::move(level);
  level = {std::make_unique_for_overwrite<Bucket[]>(capacity), old.open, capacity, std::min(old.kept, capacity),
           old.before};
  for (std::int64_t i = level.open - level.kept; i < level.open; ++i) level.at(i) = old.at(i);
  bytes_ += (std::size_t{capacity} - old.capacity) * sizeof(Bucket);
}

void Pyramid::trim(std::uint32_t limit) {
  for (Level& level : levels_)
    if (level.capacity > limit) resize(level, limit);
}

void Pyramid::prefetch_buckets(int level, std::int64_t from, std::int64_t to) const {
  constexpr std::int64_t kBucketsALine = 64 / sizeof(Bucket);
  if (level >= levels()) return;
  const std::int64_t end = std::min(to, open(level));
  for (std::int64_t i = std::max(from, kept_from(level)); i < end; i += kBucketsALine)
    __builtin_prefetch(&levels_[std::size_t(level)].at(i));
}

/// The first bucket's shares belong to the part of it that comes after the start.
Piece Pyramid::complete_piece(int level, std::int64_t index) const {
  const std::int64_t width = std::int64_t{1} << shift(level);
  Piece piece{std::max(index << shift(level), start_), (index + 1) << shift(level), {}};
  const float scale = float(width) / float(piece.to - piece.from) / 255;
  for (std::size_t c = 0; c < kCategories; ++c)
    piece.shares[c] = float(levels_[std::size_t(level)].at(index)[c]) * scale;
  return piece;
}

Piece Pyramid::open_piece(int level) const {
  const Level& l = levels_[std::size_t(level)];
  Piece piece{std::max(l.open << shift(level), start_), end_, {}};
  const float scale = 1 / float(std::max<std::int64_t>(piece.to - piece.from, 1));
  for (std::size_t c = 0; c < kCategories; ++c) piece.shares[c] = float(times_[c] - l.before[c]) * scale;
  return piece;
}

}  // namespace idlewave::timeline
