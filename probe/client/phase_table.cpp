#include "probe/client/phase_table.h"

#include <string.h>

#include <atomic>

namespace idlewave::client {
namespace {

constexpr std::uint64_t bit(wire::Phase phase) { return std::uint64_t{1} << static_cast<unsigned>(phase); }

constexpr std::uint64_t kCategories =
    bit(wire::Phase::kCompute) | bit(wire::Phase::kWait) | bit(wire::Phase::kCommunicate);

/// Cuts at a character's border: never inside a sequence of UTF-8.
void copy_name(const char* name, char (&out)[shm::kNameLimit]) {
  std::size_t length = strnlen(name, shm::kNameLimit);
  if (length == shm::kNameLimit) {
    --length;
    while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80) --length;
  }
  memcpy(out, name, length);
  memset(out + length, 0, shm::kNameLimit - length);
}

}  // namespace

void PhaseTable::attach(shm::Slot& slot) {
  slot_ = &slot;
  known_ = kCategories | bit(wire::Phase::kNone) | bit(wire::Phase::kDelay);
  work_ = bit(wire::Phase::kCompute);
  next_ = wire::kFirstUserPhase;
}

int PhaseTable::define(const char* name, int category) {
  if (name == nullptr || name[0] == '\0') return category;
  if (category < 0 || category >= wire::kFirstUserPhase || !(kCategories >> category & 1)) return category;
  char wanted[shm::kNameLimit];
  copy_name(name, wanted);
  for (int phase = wire::kFirstUserPhase; phase < next_; ++phase) {
    if (memcmp(slot_->user_phases[phase].name, wanted, sizeof wanted) == 0) return phase;
  }
  if (next_ == wire::kPhaseLimit) return category;
  shm::UserPhase& place = slot_->user_phases[next_];
  memcpy(place.name, wanted, sizeof wanted);
  std::atomic_ref(place.category).store(static_cast<std::uint32_t>(category), std::memory_order_release);
  slot_->revision.fetch_add(1, std::memory_order_release);
  known_ |= std::uint64_t{1} << next_;
  if (category == static_cast<int>(wire::Phase::kCompute)) work_ |= std::uint64_t{1} << next_;
  return next_++;
}

}  // namespace idlewave::client
