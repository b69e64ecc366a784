#include "probe/mpi/call_sums.h"

#include <string.h>

#include <atomic>

#include "probe/mpi/roles.h"

namespace idlewave::mpi {

static_assert(std::size(kArguments) <= shm::kCallFunctions);

void CallSums::begin(shm::Slot& slot) {
  slot_ = &slot;
  counter_.attach(slot.calls);
  for (shm::CallBook::Function*& function : functions_) function = nullptr;
}

/// Of the call that is open.
shm::CallBook::Function& CallSums::place_of_new() {
  static constinit shm::CallBook::Function nowhere;
  const auto call = static_cast<std::size_t>(call_);
  shm::CallBook::Function* const function = counter_.add_function(calls()[call].name);
  return *(functions_[call] = function != nullptr ? function : &nowhere);
}

namespace {

constinit std::atomic<bool> is_named[shm::kCallFunctions] = {};

/// Before the first call is counted, by which a reader knows that it is there. Whoever else does it writes the same.
void name_once(shm::CallBook::Function& function, Call call) {
  std::atomic<bool>& named = is_named[static_cast<std::size_t>(call)];
  if (named.load(std::memory_order_acquire)) return;
  const char* name = calls()[static_cast<std::size_t>(call)].name;
  for (int i = 0; i < shm::kCallNameLimit - 1 && name[i] != '\0'; ++i)
    std::atomic_ref<char>(function.name[i]).store(name[i], std::memory_order_relaxed);
  named.store(true, std::memory_order_release);
}

}  // namespace

void count_call_of_thread(shm::CallBook& book, Call call, wire::Nanoseconds time, std::int64_t bytes) {
  shm::CallBook::Function& function = book.by_threads[static_cast<std::size_t>(call)];
  name_once(function, call);
  const std::int64_t ns = time.count();
  function.time_ns.fetch_add(ns, std::memory_order_relaxed);
  if (bytes < 0)
    function.unsized.fetch_add(1, std::memory_order_relaxed);
  else
    function.bytes.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
  std::int64_t longest = function.longest_ns.load(std::memory_order_relaxed);
  while (longest < ns && !function.longest_ns.compare_exchange_weak(longest, ns, std::memory_order_relaxed)) continue;
  function.calls.fetch_add(1, std::memory_order_release);
}

}  // namespace idlewave::mpi
