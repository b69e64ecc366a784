#include "probe/mpi/error_handlers.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace idlewave::mpi {

[[gnu::tls_model("initial-exec")]] thread_local constinit unsigned handler_runs = 0;

namespace {

constinit std::atomic<bool> has_uncounted_handler{false};

/// That are told apart; a program has one or two.
constexpr std::size_t kHandlers = 32;

/// The program's, for good: a communicator may have one that the program has freed.
constinit std::atomic<Word> handlers[kHandlers] = {};

/// In the place of one, with whatever the library gives it: words in registers, and what else there is stays where it
/// is, as the call is a jump. The call's type has dots, as the standard has it, for the sake of who counts on what a
/// caller of such a function says beside.
template <int place>
Word run_handler(Word a0, Word a1, Word a2, Word a3, Word a4, Word a5) {
  ++handler_runs;
  if (is_reporting() && watch.inside.load(std::memory_order_relaxed) != nullptr)
    watch.handler_may_have_run.store(true, std::memory_order_relaxed);
  using Handler = Word(Word, Word, ...);
  return reinterpret_cast<Handler*>(handlers[place].load(std::memory_order_relaxed))(a0, a1, a2, a3, a4, a5);
}

template <int... places>
constexpr auto ours_for(std::integer_sequence<int, places...>) {
  return std::array{&run_handler<places>...};
}

constexpr auto kOurs = ours_for(std::make_integer_sequence<int, kHandlers>());

/// The library's functions for Fortran may call those for C.
bool is_ours(Word handler) {
  for (const auto& ours : kOurs)
    if (reinterpret_cast<Word>(ours) == handler) return true;
  return false;
}

bool has_place(std::atomic<Word>& place, Word handler) {
  Word there = 0;
  return place.compare_exchange_strong(there, handler) || there == handler;
}

}  // namespace

Word counted_handler(Word handler) {
  if (handler == 0 || is_ours(handler)) return handler;
  for (std::size_t i = 0; i < kHandlers; ++i)
    if (has_place(handlers[i], handler)) return reinterpret_cast<Word>(kOurs[i]);
  has_uncounted_handler.store(true);
  watch.handler_may_have_run.store(true);
  return handler;
}

bool may_handler_have_run_since(unsigned runs) { return handler_runs != runs || has_uncounted_handler.load(); }

void forget_handler_run() {
  watch.handler_may_have_run.store(false);
  if (has_uncounted_handler.load()) watch.handler_may_have_run.store(true);
}

}  // namespace idlewave::mpi
