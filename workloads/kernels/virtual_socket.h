#pragma once
// A contention domain that exists in shared memory only: computing on it is waiting for as long as the computation
// would take.

#include <cstdint>
#include <optional>
#include <span>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"
#include "workloads/kernels/bandwidth_curve.h"
#include "workloads/kernels/service_clock.h"
#include "workloads/support/shared_memory.h"

namespace idlewave::kernels {

/// One virtual socket as one of its member processes sees it. Processes of one node share it; each uses its own seat.
///
/// A process that dies in its seat, however it dies, holds its share of the bandwidth at most until its work would have
/// ended, and at most about 50 ms while somebody waits; it never blocks the others. Nothing is left behind by any
/// death: the memory is an unlinked memfd.
///
/// Nobody is ever woken by another: departures are foreseen by everyone (see ServiceClock) and an entry only makes the
/// others later, so each sleeps until the end of its own work as it stands and looks again.
class VirtualSocket {
 public:
  /// Makes a socket with that many seats. Other processes open it while this one lives.
  static wire::Result<VirtualSocket> create(int seats, const BandwidthCurve& curve);

  /// The socket which process `owner` made and knows as `descriptor`. Every member has to give the same curve.
  static wire::Result<VirtualSocket> open(pid_t owner, int descriptor, const BandwidthCurve& curve);

  VirtualSocket(VirtualSocket&& other) noexcept;
  VirtualSocket& operator=(VirtualSocket&&) = delete;
  ~VirtualSocket();  ///< Leaves the seat.

  int descriptor() const { return memory_.descriptor(); }

  /// Before the first move; by the thread that will move. `seat` is in [0, seats) and used by one process at a time.
  void take_seat(int seat);

  /// Moves `bytes` as one of the socket's active members: returns when processor sharing says that they have been
  /// moved.
  void move(std::uint64_t bytes);

  /// By all members since the socket was made.
  std::uint64_t bytes_moved();

 private:
  struct Record;

  VirtualSocket(support::SharedMemory memory, const BandwidthCurve& curve);
  void lay_out(int seats);

  Record& record() const;
  std::size_t seats() const;
  std::span<double> targets() const;
  double& own_target() const { return targets()[static_cast<std::size_t>(seat_)]; }

  // These want the lock to be held.
  const ServiceClock& clock() const;
  void advance_to_now();
  wire::Nanoseconds predicted_end() const;

  // These take the lock.
  wire::Nanoseconds enter(std::uint64_t bytes);
  std::optional<wire::Nanoseconds> end_of_work();  ///< Nothing when the work is done.
  void drop_the_dead();

  support::SharedMemory memory_;
  BandwidthCurve curve_;
  int seat_ = kNoSeat;

  static constexpr int kNoSeat = -1;
};

}  // namespace idlewave::kernels
