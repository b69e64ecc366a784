#include "workloads/ring/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <new>

namespace idlewave::ring {

using support::SharedMemory;
using wire::Nanoseconds;
using wire::Result;

/// All zero is a bell that was never rung.
struct alignas(64) Doorbells::Bell {
  std::atomic<std::uint32_t> rung;
  std::atomic<std::uint32_t> sleepers;  ///< So that ringing costs a system call only if somebody sleeps.
};
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
              std::atomic<std::uint32_t>::is_always_lock_free);

Result<Doorbells> Doorbells::create(int bells) {
  auto memory = SharedMemory::create(static_cast<std::size_t>(bells) * sizeof(Bell));
  if (!memory) return memory.error();
  return Doorbells{std::move(*memory)};
}

Result<Doorbells> Doorbells::open(pid_t owner, int descriptor) {
  auto memory = SharedMemory::open(owner, descriptor);
  if (!memory) return memory.error();
  return Doorbells{std::move(*memory)};
}

Doorbells::Bell& Doorbells::at(int bell) const { return std::launder(reinterpret_cast<Bell*>(memory_.data()))[bell]; }

void Doorbells::ring(int bell) {
  Bell& b = at(bell);
  b.rung.fetch_add(1);
  if (b.sleepers.load() > 0) syscall(SYS_futex, &b.rung, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint32_t Doorbells::rung(int bell) const { return at(bell).rung.load(); }

void Doorbells::wait(int bell, std::uint32_t seen, Nanoseconds timeout) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
  const timespec at_most{seconds.count(), (timeout - seconds).count()};
  Bell& b = at(bell);
  b.sleepers.fetch_add(1);
  syscall(SYS_futex, &b.rung, FUTEX_WAIT, seen, &at_most, nullptr, 0);
  b.sleepers.fetch_sub(1);
}

}  // namespace idlewave::ring
