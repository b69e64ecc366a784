#include "probe/mpi/habits/wait_patterns.h"

#include <algorithm>

namespace idlewave::mpi::habits {
namespace {

using Book = shm::PartnerBook;

bool may_wait(const Partner& partner) { return partner.side == Side::kToWaiting || partner.side == Side::kToPerhaps; }

/// Sorts the partners of a kind behind the others; each once. How many there are.
template <class IsOne>
std::uint32_t take(std::span<const Partner> partners, IsOne is_one, wire::Rank* out) {
  std::uint32_t count = 0;
  for (const Partner& partner : partners)
    if (is_one(partner)) out[count++] = partner.rank;
  std::sort(out, out + count);
  return static_cast<std::uint32_t>(std::unique(out, out + count) - out);
}

}  // namespace

std::uint16_t WaitPatterns::give_up_wait() {
  is_lost_ = false;
  count_ = 0;
  sum_ = 0;
  return kUnknown;
}

/// Where a send waits, or may, those that do not wait say nothing about the wait. One that may wait, for a rank that is
/// waited for anyway, makes no difference; for another, whether it does is for those to find out who see the times of both.
std::uint16_t WaitPatterns::learn(std::uint64_t key) {
  if (ranks_taken_ + count_ > kMostRanks) forget();
  const std::span partners(partners_, count_);
  wire::Rank* const out = ranks_ + ranks_taken_;
  const auto is = [](Side side) { return [side](const Partner& partner) { return partner.side == side; }; };
  const std::uint32_t sources = take(partners, is(Side::kFrom), out);
  std::uint32_t targets = take(partners, may_wait, out + sources), flags = 0;
  const auto is_awaited = [&](const Partner& partner) {
    return partner.side != Side::kToPerhaps || std::binary_search(out, out + sources, partner.rank);
  };
  if (targets > 0 && std::ranges::all_of(partners, is_awaited)) flags |= Book::kRendezvous;
  if (std::ranges::any_of(partners, is(Side::kToPerhaps))) flags |= Book::kUncertain;
  if (targets == 0) targets = take(partners, is(Side::kTo), out + sources);
  return keep(key, sources, targets, flags);
}

std::uint16_t WaitPatterns::learn_group(std::uint64_t key, std::span<const wire::Rank> ranks, std::uint32_t flags) {
  if (ranks.size() > shm::kPatternRanks) return kUnknown;
  if (ranks_taken_ + ranks.size() > kMostRanks) forget();
  std::copy(ranks.begin(), ranks.end(), ranks_ + ranks_taken_);
  return keep(key, static_cast<std::uint32_t>(ranks.size()), 0, flags);
}

/// What stands behind the ranks that are taken.
std::uint16_t WaitPatterns::keep(std::uint64_t key, std::uint32_t sources, std::uint32_t targets, std::uint32_t flags) {
  const std::uint32_t all = sources + targets;
  if (all > shm::kPatternRanks) return kUnknown;
  std::uint64_t content = mix(std::uint64_t{sources} << 40 | std::uint64_t{targets} << 8 | flags);
  for (std::uint32_t i = 0; i < all; ++i)
    content = mix(content + static_cast<std::uint32_t>(ranks_[ranks_taken_ + i]) + 1);
  std::uint32_t number = 0;
  while (number < size_ && patterns_[number].content != content) ++number;
  if (number == kMostPatterns) {
    const std::uint32_t first = ranks_taken_;
    forget();
    std::copy(ranks_ + first, ranks_ + first + all, ranks_);
    number = 0;
  }
  if (number == size_) {
    patterns_[size_++] = {content, ranks_taken_, sources, targets, flags};
    ranks_taken_ += all;
  }
  keys_[key % kPlaces] = {key, static_cast<std::uint16_t>(number)};
  return static_cast<std::uint16_t>(number);
}

void WaitPatterns::forget() {
  ++forgotten_;
  size_ = 0;
  ranks_taken_ = 0;
  for (Key& place : keys_) place = {};
}

}  // namespace idlewave::mpi::habits
