#pragma once
// A contention domain that exists in shared memory only: computing on it is waiting for as long as the computation
// would take.

#include <cstdint>
#include <span>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"
#include "workloads/kernels/bandwidth_curve.h"
#include "workloads/kernels/sharing.h"
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
///
/// A process that a machine of few cores wakes up late can say when it was ready: the others share with it from then on
/// (see Sharing), so that the lateness of its processor is not one of the program.
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

  /// How late a member may come and still be counted from when it was ready.
  static constexpr wire::Nanoseconds kMostLate = std::chrono::milliseconds{20};

  /// Moves `bytes` as one of the socket's active members since `ready`, a moment that is not to come: returns when
  /// processor sharing says that they have been moved. Gives the moment when they were, which is earlier by what the
  /// caller overslept.
  wire::Nanoseconds move(std::uint64_t bytes, wire::Nanoseconds ready);

  /// The same, ready now.
  wire::Nanoseconds move(std::uint64_t bytes);

  /// By all members since the socket was made.
  std::uint64_t bytes_moved();

 private:
  struct Record;

  VirtualSocket(support::SharedMemory memory, const BandwidthCurve& curve);
  void lay_out(int seats);

  Record& record() const;
  std::size_t seats() const;
  double& target(std::size_t seat) const;
  double since_origin(wire::Nanoseconds moment) const;

  // These want the lock to be held.
  Sharing sharing(std::vector<double>& targets) const;
  void settle(double until);
  wire::Nanoseconds end_of_work() const;

  // These take the lock.
  void leave_no_work();
  wire::Nanoseconds enter(std::uint64_t bytes, wire::Nanoseconds ready);
  wire::Nanoseconds look_again() const;
  void drop_the_dead();

  support::SharedMemory memory_;
  BandwidthCurve curve_;
  int seat_ = kNoSeat;

  static constexpr int kNoSeat = -1;
};

}  // namespace idlewave::kernels
