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

constexpr std::uint64_t kMagic = 0x32544b434f535749;  // "IWSOCKT2"
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

/// A member that dies at any instruction leaves this as it was before or after: clock and targets are written beside the
/// current ones and then made current by one store, and an arrival begins to count by the store of its time. Hence a
/// lock whose owner died is simply taken over.
///
/// Behind it: an arrival per seat, then twice a target per seat, then a mutex per seat. The process in a seat holds that
/// mutex as long as it lives, so that the kernel tells the others of its death.
struct VirtualSocket::Record {
  std::uint64_t magic;
  std::uint64_t seats;
  std::int64_t origin;                 ///< CLOCK_MONOTONIC in ns when the service clock stood at 0.
  pthread_mutex_t lock;                ///< Guards what follows.
  std::array<ServiceClock, 2> clocks;  ///< As far as all who came are known: kMostLate behind the present, or less.
  std::atomic<std::uint32_t> current;

  Arrival* arrivals() { return reinterpret_cast<Arrival*>(this + 1); }
  double* targets(std::uint32_t of_clock) { return reinterpret_cast<double*>(arrivals() + seats) + of_clock * seats; }
  pthread_mutex_t& life(std::size_t seat) { return reinterpret_cast<pthread_mutex_t*>(targets(2))[seat]; }
  static std::size_t size_with(std::size_t seats) {
    return sizeof(Record) + seats * (sizeof(Arrival) + 2 * sizeof(double) + sizeof(pthread_mutex_t));
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
  leave_no_work();
  pthread_mutex_unlock(&record().life(static_cast<std::size_t>(seat_)));
}

void VirtualSocket::lay_out(int seats) {
  Record* record = new (memory_.data()) Record{};
  record->seats = static_cast<std::uint64_t>(seats);
  record->origin = monotonic_now().count();
  make_robust_mutex(record->lock);
  std::uninitialized_fill_n(record->arrivals(), record->seats, Arrival{});
  std::uninitialized_fill_n(record->targets(0), 2 * record->seats, ServiceClock::kIdle);
  for (std::size_t seat = 0; seat < record->seats; ++seat) make_robust_mutex(record->life(seat));
  record->magic = kMagic;
}

void VirtualSocket::take_seat(int seat) {
  assert(seat >= 0 && std::cmp_less(seat, seats()) && seat_ == kNoSeat);
  pthread_mutex_t& life = record().life(static_cast<std::size_t>(seat));
  [[maybe_unused]] const bool held = is_held(life, pthread_mutex_trylock(&life));
  assert(held);
  seat_ = seat;
  leave_no_work();
  support::ask_for_prompt_wake_ups();
}

Nanoseconds VirtualSocket::move(std::uint64_t bytes) { return move(bytes, monotonic_now()); }

Nanoseconds VirtualSocket::move(std::uint64_t bytes, Nanoseconds ready) {
  Nanoseconds end = enter(bytes, ready);
  Nanoseconds look_for_the_dead = monotonic_now() + kPatience;
  while (end > monotonic_now()) {
    support::sleep_until(std::min(end, look_for_the_dead));
    if (monotonic_now() >= look_for_the_dead) {
      drop_the_dead();
      look_for_the_dead = monotonic_now() + kPatience;
    }
    end = look_again();
  }
  return end;
}

std::uint64_t VirtualSocket::bytes_moved() {
  const Guard guard{record().lock};
  std::vector<double> targets;
  Sharing now = sharing(targets);
  now.advance(curve_, since_origin(monotonic_now()));
  return static_cast<std::uint64_t>(std::llround(now.clock().bytes_moved()));
}

VirtualSocket::Record& VirtualSocket::record() const {
  return *std::launder(reinterpret_cast<Record*>(memory_.data()));
}
std::size_t VirtualSocket::seats() const { return record().seats; }
double& VirtualSocket::target(std::size_t seat) const { return record().targets(record().current)[seat]; }

double VirtualSocket::since_origin(Nanoseconds moment) const {
  return static_cast<double>(moment.count() - record().origin);
}

/// A copy that can look into the future; `targets` is room for it.
Sharing VirtualSocket::sharing(std::vector<double>& targets) const {
  Record& shared = record();
  targets.assign(shared.targets(shared.current), shared.targets(shared.current) + shared.seats);
  return {shared.clocks[shared.current], targets, {shared.arrivals(), shared.seats}};
}

/// Of this process, or of one that died in its seat.
void VirtualSocket::leave_no_work() {
  const Guard guard{record().lock};
  settle(since_origin(monotonic_now()));
  target(static_cast<std::size_t>(seat_)) = ServiceClock::kIdle;
}

/// Nobody may say afterwards to have come earlier.
void VirtualSocket::settle(double until) {
  std::vector<double> targets;
  Sharing settled = sharing(targets);
  settled.advance(curve_, until);
  Record& shared = record();
  const std::uint32_t next = 1 - shared.current;
  shared.clocks[next] = settled.clock();
  std::ranges::copy(targets, shared.targets(next));
  shared.current = next;
}

Nanoseconds VirtualSocket::end_of_work() const {
  std::vector<double> targets;
  const double end = std::ceil(sharing(targets).finish(static_cast<std::size_t>(seat_), curve_));
  return Nanoseconds{record().origin + static_cast<std::int64_t>(end)};
}

/// A seat has one arrival, hence the one before has to be settled.
Nanoseconds VirtualSocket::enter(std::uint64_t bytes, Nanoseconds ready) {
  const Guard guard{record().lock};
  Arrival& own = record().arrivals()[seat_];
  settle(std::max(since_origin(monotonic_now() - kMostLate), own.time));
  own.bytes = static_cast<double>(bytes);
  const double next_moment = record().clocks[record().current].time() + 1;
  std::atomic_ref{own.time}.store(std::max(since_origin(ready), next_moment));
  return end_of_work();
}

Nanoseconds VirtualSocket::look_again() const {
  const Guard guard{record().lock};
  return end_of_work();
}

void VirtualSocket::drop_the_dead() {
  const Guard guard{record().lock};
  std::vector<double> targets;
  Sharing now = sharing(targets);
  now.advance(curve_, since_origin(monotonic_now()));
  for (std::size_t seat = 0; seat < seats(); ++seat) {
    if (now.is_done(seat) || std::cmp_equal(seat, seat_)) continue;
    pthread_mutex_t& life = record().life(seat);
    if (!is_held(life, pthread_mutex_trylock(&life))) continue;
    std::atomic_ref{record().arrivals()[seat].time}.store(0);
    target(seat) = ServiceClock::kIdle;
    pthread_mutex_unlock(&life);
  }
}

}  // namespace idlewave::kernels
