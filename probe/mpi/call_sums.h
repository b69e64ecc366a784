#pragma once
// What the rank has done by function and by receiver, counted where its calls end.

#include <cstdint>

#include "probe/client/call_counter.h"
#include "probe/mpi/calls.h"
#include "probe/shm/layout.h"

namespace idlewave::mpi {

/// Of the thread that reports alone. The sums themselves stand in the rank's slot.
class CallSums {
 public:
  void begin(shm::Slot& slot);

  /// A call begins at `now`. One that is still open was left in another way than by its return.
  void open(Call call, wire::Nanoseconds now) {
    if (is_open_) [[unlikely]]
      close(now, client::CallCounter::kUnknownBytes);
    is_open_ = true;
    call_ = call;
    began_ = now;
  }
  /// Of the time of the call that is open.
  void leave_out(std::int64_t ns) { began_ += wire::Nanoseconds(ns); }
  /// How long orders have held the rank so far.
  std::int64_t held_ns() const { return slot_->held_ns.load(std::memory_order_relaxed); }

  /// It is over; its time in ns.
  [[gnu::always_inline]] std::int64_t close(wire::Nanoseconds now, std::int64_t bytes) {
    shm::CallBook::Function* function = functions_[static_cast<std::size_t>(call_)];
    if (function == nullptr) [[unlikely]]
      function = &place_of_new();
    const std::int64_t time_ns = (now - began_).count();
    client::CallCounter::count_call(*function, time_ns, bytes);
    is_open_ = false;
    ended_ = now;
    return time_ns;
  }
  /// Of the call that is open.
  wire::Nanoseconds began() const { return began_; }
  /// What was between the call that is open and the one before.
  wire::Nanoseconds work_before() const { return began_ - ended_; }

  /// `receiver`: in MPI_COMM_WORLD; kUnknownRank: somebody else.
  void count_message(wire::Rank receiver, std::int64_t bytes) { counter_.count_message(receiver, bytes); }

 private:
  [[gnu::cold]] shm::CallBook::Function& place_of_new();

  shm::Slot* slot_ = nullptr;
  client::CallCounter counter_;
  bool is_open_ = false;
  Call call_{};
  wire::Nanoseconds began_{};
  wire::Nanoseconds ended_{};                                     ///< The one before.
  shm::CallBook::Function* functions_[shm::kCallFunctions] = {};  ///< By call; null: not called yet.
};

/// A call of another thread, on that.
void count_call_of_thread(shm::CallBook& book, Call call, wire::Nanoseconds time, std::int64_t bytes);

}  // namespace idlewave::mpi
