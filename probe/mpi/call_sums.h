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
    if (call_ != kNone) [[unlikely]]
      close(now, client::CallCounter::kUnknownBytes);
    open(call);
    begin_at(now);
  }
  /// The same in two steps, where none is open: what does not need the time comes ahead of it, and nothing has to be kept over the
  /// function that reads it.
  void open(Call call) {
    call_ = call;
    function_ = functions_[static_cast<std::size_t>(call)];
  }
  void begin_at(wire::Nanoseconds now) { began_ = now; }
  /// Of the time of the call that is open.
  void leave_out(std::int64_t ns) { began_ += wire::Nanoseconds(ns); }
  /// How long orders have held the rank so far.
  std::int64_t held_ns() const { return slot_->held_ns.load(std::memory_order_relaxed); }

  /// It is over; its time in ns.
  [[gnu::always_inline]] std::int64_t close(wire::Nanoseconds now, std::int64_t bytes) {
    if (function_ == nullptr) [[unlikely]]
      function_ = &place_of_new();
    count(bytes);
    return close_at(now);
  }
  /// The same in two steps, where the function has a place.
  bool has_place() const { return function_ != nullptr; }
  void count(std::int64_t bytes) { client::CallCounter::count_call(*function_, bytes); }
  std::int64_t close_at(wire::Nanoseconds now) {
    const std::int64_t time_ns = (now - began_).count();
    client::CallCounter::count_time(*function_, time_ns);
    call_ = kNone;
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
  static constexpr auto kNone = static_cast<Call>(-1);

  Call call_ = kNone;                            ///< That is open.
  shm::CallBook::Function* function_ = nullptr;  ///< Of that; null: it has no place yet.
  wire::Nanoseconds began_{};
  wire::Nanoseconds ended_{};                                     ///< The one before.
  shm::CallBook::Function* functions_[shm::kCallFunctions] = {};  ///< By call; null: not called yet.
};

/// A call of another thread, on that.
void count_call_of_thread(shm::CallBook& book, Call call, wire::Nanoseconds time, std::int64_t bytes);

}  // namespace idlewave::mpi
