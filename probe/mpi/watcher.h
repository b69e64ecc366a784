#pragma once
// The rank as its MPI calls show it: what every wrapper does before and after the call of the library.
//
// Of the thread that called MPI_Init, between MPI_Init and MPI_Finalize, every call is a phase, and what lies between
// two of them is computing; so are those of other threads, on lanes of their own, as far as there are some. A call that
// the library, or a signal handler, makes within a call counts with that.

#include <idlewave/probe.h>

#include <atomic>
#include <cstdint>

#include "probe/mpi/call_sums.h"
#include "probe/mpi/calls.h"
#include "probe/mpi/habits/polling.h"
#include "probe/mpi/handles.h"
#include "probe/mpi/partner.h"
#include "probe/mpi/roles.h"

/// Where the function that this is written in goes back to, and where its part of the stack begins.
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
#define FRAME __builtin_dwarf_cfa()

namespace idlewave::mpi {

/// Of this process; the thread `reporter` alone uses the rest.
struct Watch {
  std::atomic<const void*> reporter{nullptr};  ///< Thread pointer; null while nothing is reported.
  /// Frame (FRAME) of the wrapper that goes on; null: none. One that lies deeper in the stack than a new call's was left by
  /// longjmp or an exception from an error handler, and one that is there no more. Set for as long as anything of the
  /// rank's is written, so that a signal handler which calls MPI at that moment finds it taken.
  std::atomic<const void*> inside{nullptr};
  std::atomic<const void*> inside_caller{nullptr};  ///< Where in the program that call goes back to.
  /// An error handler of the program has run within that call, or nobody knows (error_handlers.h).
  std::atomic<bool> handler_may_have_run{false};
  const void* stack_begin = nullptr;  ///< Of the thread; null: not known.
  const void* stack_end = nullptr;
  CallSums sums;
};
[[gnu::visibility("hidden")]] extern constinit Watch watch;

/// On the thread that reports.
inline bool is_reporting() { return watch.reporter.load(std::memory_order_relaxed) == __builtin_thread_pointer(); }

/// Whether the frame of the wrapper that goes on is still on the stack, as seen from a deeper one: a program that has left
/// it by longjmp has others there, sooner or later.
[[gnu::noinline]] bool goes_on_inside(const void* frame);

inline void begin_turn(const void* frame, const void* caller) {
  watch.inside_caller.store(caller, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  watch.inside.store(frame, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
/// The wrapper with that frame, which goes back to `caller`, is the one that notes, on the thread that reports. False: it
/// was called within another one, by the library or by a signal handler, and counts with that.
inline bool take_turn(const void* frame, const void* caller) {
  if (frame < watch.inside.load(std::memory_order_relaxed) && goes_on_inside(frame)) return false;
  begin_turn(frame, caller);
  return true;
}
inline void end_turn() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  watch.inside.store(nullptr, std::memory_order_relaxed);
}

/// Whom a call concerns.
struct Concerned {
  Peers peers = kNobody;
  bool all = false;  ///< It is of everybody's communicator, or of none.
};

/// Where a call stands for what is found out about steps: the address in the program that it goes back to, and whether its
/// communicator is everybody's.
inline std::uintptr_t at_of(const void* caller, bool of_all) {
  constexpr std::uintptr_t kOfSome = std::uintptr_t{1} << 63;  // no address has it
  return reinterpret_cast<std::uintptr_t>(caller) | (of_all ? 0 : kOfSome);
}

/// A call begins that is shown as `phase`, in the wrapper with that frame, which goes back to `caller`. False: it is not to
/// be shown, and none of what follows may be called.
bool enter(Call call, wire::Phase phase, const void* frame, const void* caller);
/// The same of a call that starts requests, shown as kCommunicate: with it may be found out that a step has begun when what the rank
/// did before was over. Steps are found by these calls and those that wait. `comm`: its communicator; none where it has none.
bool enter_start(Call call, const void* frame, const void* caller, Peers peers, Handles::Key comm);

/// The call that enter() has shown is over; `bytes`: that it had MPI carry, or kUnknownBytes.
void leave(std::int64_t bytes);
/// The same of a call that waits. `at`: as of at_of().
void leave_wait(Call call, std::uintptr_t at, Peers peers, std::int64_t bytes);
/// The same of MPI_Send; to whom.
void leave_send(std::uintptr_t at, Peers peers, std::int64_t bytes, Partner to);

/// As enter(), of a call that asks whether something is there. What lies between two that ask in vain may be waiting
/// (polling.h), and is shown as one wait then.
bool enter_ask(Call call, const void* frame, const void* caller);
/// What it was told. With kDone it counts as a call that waits.
void leave_ask(Call call, const void* caller, habits::Answer answer);

/// Who says when a step begins, as the program's environment has it; before all else.
[[gnu::cold]] wire::StepSource choose_step_source();
/// MPI_Pcontrol. Level 1: a step begins, by the program's own word. `frame`: of the wrapper, which goes back to `caller`.
void control(int level, const void* frame, const void* caller);

}  // namespace idlewave::mpi
