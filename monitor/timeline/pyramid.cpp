#include "monitor/timeline/pyramid.h"

#include <bit>

namespace idlewave::timeline {
namespace {

constexpr std::uint32_t kFirstCapacity = 8;

/// Of a category's share in a bucket that is one word.
constexpr int shift_of(std::size_t category) {
  return 8 * int(std::endian::native == std::endian::little ? category : kCategories - 1 - category);
}

/// Rounds the running sum, not each share, so that the shares never exceed 255 together. `more`: in `category` on top of
/// what lies between the two. The bucket is made in a register: four bytes that are stored one by one can't be read as one
/// word before they have gone to the cache.
Bucket quantise(const Times& before, const Times& until, std::size_t category, std::int64_t more, int shift) {
  std::uint32_t bucket = 0;
  std::int64_t sum = 0;
  std::int64_t rounded = 0;
  for (std::size_t c = 0; c < kCategories; ++c) {
    sum += until[c] - before[c] + (c == category ? more : 0);
    const std::int64_t next = (sum * 255 + (std::int64_t{1} << (shift - 1))) >> shift;
    bucket |= std::uint32_t(next - rounded) << shift_of(c);
    rounded = next;
  }
  return std::bit_cast<Bucket>(bucket);
}

Bucket all_of(int category) {
  return std::bit_cast<Bucket>(category == kNoData ? 0u : 255u << shift_of(std::size_t(category)));
}

}  // namespace

void Pyramid::start(std::int64_t time) {
  levels_.resize(1);
  levels_[0].open = time >> kBaseShift;
  start_ = end_ = time;
  border_ = (levels_[0].open + 1) << kBaseShift;
}

void Pyramid::skip_to(std::int64_t time, std::uint32_t limit) {
  skip_to_ = time;
  while (finest_ + 1 < levels() && end_ < skipped_until(finest_, limit)) ++finest_;
  set_border(limit);
}

void Pyramid::set_border(std::uint32_t limit) {
  border_ = (open(finest_) + 1) << shift(finest_);
  if (finest_ > 0) border_ = std::min(border_, skipped_until(finest_ - 1, limit));
}

/// Levels that were skipped go on where the first of their buckets begins that is kept.
void Pyramid::pass_borders(int category, std::int64_t to, std::uint32_t limit) {
  for (; finest_ > 0 && to >= skipped_until(finest_ - 1, limit); --finest_) {
    const std::int64_t from = skipped_until(finest_ - 1, limit);
    complete(category, from, limit);
    count(category, from);
    Level& l = levels_[std::size_t(finest_ - 1)];
    l.open = from >> shift(finest_ - 1), l.kept = 0, l.before = times_;
  }
  complete(category, to, limit);
  set_border(limit);
}

/// Completes the buckets that end until `to`, of each level as many as there are, and begins the next ones.
void Pyramid::complete(int category, std::int64_t to, std::uint32_t limit) {
  const auto grown = std::size_t(category);
  for (int level = finest_; level < levels() && to >> shift(level) != levels_[std::size_t(level)].open; ++level) {
    if (level + 1 == levels() && level + 1 < kLevels)
      levels_.emplace_back().open = levels_[std::size_t(level)].open >> 1;
    Level& l = levels_[std::size_t(level)];
    const std::int64_t border = (l.open + 1) << shift(level), open = to >> shift(level);
    push(l, quantise(l.before, times_, grown, border - end_, shift(level)), all_of(category), open - l.open, limit);
    // Not by a copy that is added to first: to read one word of it and then two at once takes as long as all the rest.
    l.before = times_;
    l.before[grown] += (open << shift(level)) - end_;
  }
}

/// `count` buckets, more than none: the first one, and then as many as are left of another.
void Pyramid::push(Level& level, Bucket first, Bucket then, std::int64_t count, std::uint32_t limit) {
  const std::int64_t kept = level.kept + count;
  if (kept > level.capacity && level.capacity < limit) {
    const auto wanted = std::uint32_t(std::min<std::int64_t>(kept, limit));
    resize(level, std::min(limit, std::max(kFirstCapacity, std::bit_ceil(wanted))));
  }
  // Buckets are bytes, and may be anything to the compiler: nothing of the level is read between them.
  Bucket* const ring = level.ring.get();
  const std::int64_t end = level.open + count, mask = std::int64_t(level.capacity) - 1;
  std::int64_t next = std::max(level.open, end - level.capacity);
  if (next == level.open) ring[next++ & mask] = first;
  for (; next < end; ++next) ring[next & mask] = then;
  level.open = end;
  level.kept = std::uint32_t(std::min<std::int64_t>(kept, level.capacity));
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
