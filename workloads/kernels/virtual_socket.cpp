#include "workloads/kernels/virtual_socket.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <memory>
#include <new>
#include <utility>

#include "workloads/support/pause.h"

namespace idlewave::kernels {

using support::monotonic_now;
using support::SharedMemory;
using wire::Error;
using wire::Nanoseconds;
using wire::Result;

namespace {

constexpr std::uint64_t kMagic = 0x31544b434f535749;  // "IWSOCKT1"
constexpr Nanoseconds kPatience = std::chrono::milliseconds{50};

void make_robust_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

/// `status` is what locking returned. True if the lock is held now, whether its former owner let go of it or died.
bool is_held(pthread_mutex_t& mutex, int status) {
  if (status == EOWNERDEAD) pthread_mutex_consistent(&mutex);
  return status == 0 || status == EOWNERDEAD;
}

class Guard {
 public:
  explicit Guard(pthread_mutex_t& mutex) : mutex_(mutex) {
    [[maybe_unused]] const bool held = is_held(mutex_, pthread_mutex_lock(&mutex_));
    assert(held);
  }
  ~Guard() { pthread_mutex_unlock(&mutex_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace

/// A member that dies at any instruction leaves this as it was before or after: the clock is written beside the current
/// one and then made current by one store, and a target is one store. Hence a lock whose owner died is simply taken
/// over.
///
/// Behind it: a target per seat, then a mutex per seat. The process in a seat holds that mutex as long as it lives, so
/// that the kernel tells the others of its death.
struct VirtualSocket::Record {
  std::uint64_t magic;
  std::uint64_t seats;
  std::int64_t origin;   ///< CLOCK_MONOTONIC in ns when the service clock stood at 0.
  pthread_mutex_t lock;  ///< Guards what follows, and the targets.
  std::array<ServiceClock, 2> clocks;
  std::atomic<std::uint32_t> current;

  double* targets() { return reinterpret_cast<double*>(this + 1); }
  pthread_mutex_t& life(std::size_t seat) { return reinterpret_cast<pthread_mutex_t*>(targets() + seats)[seat]; }
  static std::size_t size_with(std::size_t seats) {
    return sizeof(Record) + seats * (sizeof(double) + sizeof(pthread_mutex_t));
  }
};
static_assert(alignof(pthread_mutex_t) <= alignof(double));

Result<VirtualSocket> VirtualSocket::create(int seats, const BandwidthCurve& curve) {
  assert(seats > 0);
  auto memory = SharedMemory::create(Record::size_with(static_cast<std::size_t>(seats)));
  if (!memory) return memory.error();
  VirtualSocket socket{std::move(*memory), curve};
  socket.lay_out(seats);
  return socket;
}

Result<VirtualSocket> VirtualSocket::open(pid_t owner, int descriptor, const BandwidthCurve& curve) {
  auto memory = SharedMemory::open(owner, descriptor);
  if (!memory) return memory.error();
  VirtualSocket socket{std::move(*memory), curve};
  const std::size_t size = socket.memory_.size();
  if (size < sizeof(Record) || socket.record().magic != kMagic || size != Record::size_with(socket.seats())) {
    return Error{"what was to be a virtual socket is something else; start all ranks with the same iw-ring"};
  }
  return socket;
}

VirtualSocket::VirtualSocket(SharedMemory memory, const BandwidthCurve& curve)
    : memory_(std::move(memory)), curve_(curve) {}

VirtualSocket::VirtualSocket(VirtualSocket&& other) noexcept
    : memory_(std::move(other.memory_)), curve_(std::move(other.curve_)), seat_(std::exchange(other.seat_, kNoSeat)) {}

VirtualSocket::~VirtualSocket() {
  if (seat_ == kNoSeat) return;
  const Guard guard{record().lock};
  advance_to_now();
  own_target() = ServiceClock::kIdle;
  pthread_mutex_unlock(&record().life(static_cast<std::size_t>(seat_)));
}

void VirtualSocket::lay_out(int seats) {
  Record* record = new (memory_.data()) Record{};
  record->seats = static_cast<std::uint64_t>(seats);
  record->origin = monotonic_now().count();
  make_robust_mutex(record->lock);
  std::uninitialized_fill_n(record->targets(), record->seats, ServiceClock::kIdle);
  for (std::size_t seat = 0; seat < record->seats; ++seat) make_robust_mutex(record->life(seat));
  record->magic = kMagic;
}

void VirtualSocket::take_seat(int seat) {
  assert(seat >= 0 && std::cmp_less(seat, seats()) && seat_ == kNoSeat);
  pthread_mutex_t& life = record().life(static_cast<std::size_t>(seat));
  [[maybe_unused]] const bool held = is_held(life, pthread_mutex_trylock(&life));
  assert(held);
  seat_ = seat;
  support::ask_for_prompt_wake_ups();
}

void VirtualSocket::move(std::uint64_t bytes) {
  std::optional<Nanoseconds> end = enter(bytes);
  Nanoseconds look_for_the_dead = monotonic_now() + kPatience;
  while (end) {
    support::sleep_until(std::min(*end, look_for_the_dead));
    if (monotonic_now() >= look_for_the_dead) {
      drop_the_dead();
      look_for_the_dead = monotonic_now() + kPatience;
    }
    end = end_of_work();
  }
}

std::uint64_t VirtualSocket::bytes_moved() {
  const Guard guard{record().lock};
  advance_to_now();
  return static_cast<std::uint64_t>(std::llround(clock().bytes_moved()));
}

VirtualSocket::Record& VirtualSocket::record() const {
  return *std::launder(reinterpret_cast<Record*>(memory_.data()));
}
std::size_t VirtualSocket::seats() const { return record().seats; }
std::span<double> VirtualSocket::targets() const { return {record().targets(), seats()}; }
const ServiceClock& VirtualSocket::clock() const { return record().clocks[record().current]; }

void VirtualSocket::advance_to_now() {
  Record& shared = record();
  const std::uint32_t next = 1 - shared.current;
  shared.clocks[next] = clock();
  shared.clocks[next].advance(targets(), curve_, static_cast<double>(monotonic_now().count() - shared.origin));
  shared.current = next;
}

Nanoseconds VirtualSocket::predicted_end() const {
  const double end = std::ceil(clock().finish_of(own_target(), targets(), curve_));
  return Nanoseconds{record().origin + static_cast<std::int64_t>(end)};
}

Nanoseconds VirtualSocket::enter(std::uint64_t bytes) {
  const Guard guard{record().lock};
  advance_to_now();
  own_target() = clock().service() + static_cast<double>(bytes);
  return predicted_end();
}

std::optional<Nanoseconds> VirtualSocket::end_of_work() {
  const Guard guard{record().lock};
  advance_to_now();
  if (clock().has_reached(own_target())) return std::nullopt;
  return predicted_end();
}

void VirtualSocket::drop_the_dead() {
  const Guard guard{record().lock};
  advance_to_now();
  for (std::size_t seat = 0; seat < seats(); ++seat) {
    if (clock().has_reached(targets()[seat]) || std::cmp_equal(seat, seat_)) continue;
    pthread_mutex_t& life = record().life(seat);
    if (!is_held(life, pthread_mutex_trylock(&life))) continue;
    targets()[seat] = ServiceClock::kIdle;
    pthread_mutex_unlock(&life);
  }
}

}  // namespace idlewave::kernels
