#include "probe/client/partner_teller.h"

#include <string.h>

#include <atomic>

namespace idlewave::client {
namespace {

/// A step like no other that there was room for.
constexpr std::uint8_t kNoNumber = 0xff;

}  // namespace

bool PartnerTeller::Waits::operator==(const Waits& other) const {
  return seen == other.seen && is_sound == other.is_sound && memcmp(order, other.order, count) == 0;
}

void PartnerTeller::attach(shm::PartnerBook& book) {
  *this = {};
  book_ = &book;
}

void PartnerTeller::define(int pattern, std::span<const int> from, std::span<const int> to, std::uint32_t flags) {
  used_ = true;
  const std::uint64_t sources = from.data() == nullptr ? 0 : from.size();
  const std::uint64_t targets = to.data() == nullptr ? 0 : to.size();
  const bool fits = sources <= shm::kPatternRanks && targets <= shm::kPatternRanks &&
                    ranks_ + sources + targets <= shm::kPatternRanks;
  if (static_cast<unsigned>(pattern) >= shm::kPatterns || !fits) {
    now_.is_sound = false;
    return;
  }
  shm::PartnerBook::Pattern& place = book_->patterns[pattern];
  place.flags = flags;
  place.first = ranks_;
  place.sources = static_cast<std::uint32_t>(sources);
  place.targets = static_cast<std::uint32_t>(targets);
  for (std::uint64_t i = 0; i < sources; ++i) book_->ranks[ranks_++] = from[i];
  for (std::uint64_t i = 0; i < targets; ++i) book_->ranks[ranks_++] = to[i];
  std::atomic_ref(place.is_defined).store(1, std::memory_order_release);
  defined_ |= std::uint64_t{1} << pattern;
  note(pattern);
}

std::optional<std::uint32_t> PartnerTeller::end_new_step(wire::Step step, bool as_told) {
  const std::uint32_t before = is_told_ ? book_->followed.load(std::memory_order_relaxed) : shm::kCycles + 1;
  const std::uint32_t remembered = remember(step);
  if (as_told) {
    --watched_;
    now_.clear();
    return std::nullopt;
  }
  watched_ = kHistory;
  const std::uint32_t cycle = remembered == kNoNumber ? 0 : follow(step, period());
  if (cycle == 0) length_ = 1, cycle_[0] = now_;
  now_.clear();
  is_told_ = true;
  book_->followed.store(cycle, std::memory_order_release);
  return cycle == before ? std::nullopt : std::optional(cycle);
}

/// Puts the step that ends behind those before it, if it follows them.
std::uint32_t PartnerTeller::remember(wire::Step step) {
  const std::uint32_t number = number_of_step();
  if (number == kNoNumber || step != last_step_ + 1) remembered_ = 0;
  last_step_ = step;
  if (number != kNoNumber) history_[remembered_++ % kHistory] = static_cast<std::uint8_t>(number);
  return number;
}

std::uint32_t PartnerTeller::number_of_step() {
  if (!now_.is_sound) return kNoNumber;
  for (std::uint32_t number = 0; number < steps_; ++number)
    if (known_[number] == now_) return number;
  if (steps_ == kSteps) return kNoNumber;
  known_[steps_] = now_;
  return steps_++;
}

bool PartnerTeller::repeats(std::uint32_t period) const {
  if (2 * std::uint64_t{period} > remembered_) return false;
  for (std::uint32_t back = 0; back < period; ++back)
    if (latest(back) != latest(back + period)) return false;
  return true;
}

/// The shortest in which the latest steps have come twice; 1 if there is none.
std::uint32_t PartnerTeller::period() const {
  for (std::uint32_t period = 1; period <= kLongest; ++period)
    if (repeats(period)) return period;
  return 1;
}

/// Takes the latest steps for the cycle that goes on; a single one where there is no room for more. Its number.
std::uint32_t PartnerTeller::follow(wire::Step step, std::uint32_t period) {
  length_ = period;
  for (std::uint32_t back = 0; back < period; ++back)
    cycle_[static_cast<std::uint64_t>(step - back) % period] = known_[latest(back)];
  const std::uint32_t number = number_of_cycle();
  return number != 0 || period == 1 ? number : follow(step, 1);
}

/// As it stands in the book, or now does; 0 if there is no room.
std::uint32_t PartnerTeller::number_of_cycle() {
  std::uint8_t text[shm::kCycleSymbols];
  std::uint32_t size = 0;
  for (std::uint32_t i = 0; i < length_; ++i) {
    if (size + cycle_[i].count + 1 > sizeof text) return 0;
    memcpy(text + size, cycle_[i].order, cycle_[i].count);
    size += cycle_[i].count;
    text[size++] = shm::kEndOfStep;
  }
  for (std::uint32_t number = 0; number < cycles_; ++number) {
    const shm::PartnerBook::Cycle& known = book_->cycles[number];
    if (known.symbols == size && memcmp(book_->symbols + known.first, text, size) == 0) return number + 1;
  }
  if (cycles_ == shm::kCycles || symbols_ + size > shm::kCycleSymbols) return 0;
  shm::PartnerBook::Cycle& place = book_->cycles[cycles_];
  memcpy(book_->symbols + symbols_, text, size);
  place.first = symbols_;
  std::atomic_ref(place.symbols).store(size, std::memory_order_release);
  symbols_ += size;
  return ++cycles_;
}

}  // namespace idlewave::client
