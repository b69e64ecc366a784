// The functions that take the place of the MPI library's. Each passes its arguments on to the next function of the same
// name as it got them (but for an error that mpi_f08 leaves out), as machine words, and hands back what that returns:
// integers and pointers travel so whatever their size, and no wrapped function takes anything else. A function of the
// Fortran interfaces goes on to the same name, never to C, so that what only the library knows (MPI_IN_PLACE, MPI_BOTTOM,
// statuses) stays with it.

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "probe/mpi/call_of_thread.h"
#include "probe/mpi/carried.h"
#include "probe/mpi/error_handlers.h"
#include "probe/mpi/handles.h"
#include "probe/mpi/message_calls.h"
#include "probe/mpi/reporting.h"
#include "probe/mpi/roles.h"
#include "probe/mpi/symbols.h"
#include "probe/mpi/watcher.h"

namespace idlewave::mpi {
namespace {

using enum Call;  // By these names the table speaks of them.

/// What is known of a function, in a list of those that were called.
struct Known {
  std::atomic<void*> next{nullptr};              ///< Where it is passed on to; null before its first call.
  std::atomic<const void*> in_library{nullptr};  ///< Where the library was seen to call it itself; null: nowhere.
  std::atomic<bool> is_listed{false};
  Known* other = nullptr;
};

std::atomic<Known*> known_functions{nullptr};

void list(Known& function) {
  if (function.is_listed.exchange(true)) return;
  function.other = known_functions.load();
  while (!known_functions.compare_exchange_weak(function.other, &function)) {
  }
}

/// Before MPI begins: a program may have unloaded the library that it had before, and loaded one again.
void forget_library() {
  for (Known* function = known_functions.load(); function != nullptr; function = function->other) {
    function->next.store(nullptr, std::memory_order_relaxed);
    function->in_library.store(nullptr, std::memory_order_relaxed);
  }
}

constexpr std::size_t kNameLimit = 48;

template <class Function>
struct Wrapped : Known {
  template <std::size_t size>
  explicit constexpr Wrapped(const char (&its_name)[size]) {
    static_assert(size <= kNameLimit);
    std::copy_n(its_name, size, name);
  }
  Function* known_next() const { return reinterpret_cast<Function*>(next.load(std::memory_order_relaxed)); }
  /// Not its address, which the linker would have to put in place in each process, of which most never call MPI.
  char name[kNameLimit] = {};
};

/// What the dynamic linker does with a program whose library lacks a function.
[[noreturn, gnu::cold]] void give_up(const char* name) {
  fprintf(stderr, "idlewave: symbol lookup error: undefined symbol: %s\n", name);
  _exit(127);
}

template <class Function>
[[gnu::noinline, gnu::cold]] Function* look_up(Wrapped<Function>& wrapped, const void* caller) {
  void* next = find_next(wrapped.name, caller);
  if (next == nullptr) next = find_anywhere(wrapped.name);
  if (next == nullptr) give_up(wrapped.name);
  wrapped.next.store(next, std::memory_order_relaxed);
  list(wrapped);
  return reinterpret_cast<Function*>(next);
}

template <class Function>
inline Function* next_of(Wrapped<Function>& wrapped, const void* caller) {
  Function* next = wrapped.known_next();
  return next != nullptr ? next : look_up(wrapped, caller);
}

template <class Function>
struct Shown;

/// Called within another call. By a signal handler: what it starts is not seen. By the library, as MPICH's functions for
/// Fortran call those for C: it is the outer call's, which notes it.
template <class Function>
[[gnu::noinline]] void note_start_within(Wrapped<Function>& wrapped, const void* caller) {
  if (!is_reporting() || wrapped.in_library.load(std::memory_order_relaxed) == caller) return;
  if (is_in_library(caller)) {
    wrapped.in_library.store(caller, std::memory_order_relaxed);
  } else {
    messages.note_unseen_start();
  }
}

/// In mpi_f08 a program may leave the error out: then the library is given an int of ours, or nobody here knew how the
/// call has ended.
template <Call call, Form form>
inline void ask_for_error(Word* words, int& error) {
  if constexpr (is_fortran(form)) {
    constexpr int place = arguments_of(call);
    if (words[place] == 0) words[place] = reinterpret_cast<Word>(&error);
  }
}

template <class Function, std::size_t... places>
inline Word call_with(Function* next, const Word* words, std::index_sequence<places...>) {
  return next(words[places]...);
}

constexpr bool frees_a_handle(Call call) { return is_one_of(call, {kComm_free, kComm_disconnect, kWin_free}); }

/// An optimising compiler leaves a function that ends with the call of another one with the same arguments by a jump. Those of
/// Fortran have several names each, which share what follows.
#ifdef __OPTIMIZE__
constexpr bool leaves_by_jump(Form form) { return !is_fortran(form); }
#else
constexpr bool leaves_by_jump(Form) { return false; }
#endif

/// With a session, and for the first call.
template <class... Words>
struct Shown<Word(Words...)> {
  /// For a wrapper that leaves by a jump: it finds the wrapper's caller and frame for its own.
  template <int phase, Call call, Form form, auto& wrapped>
  [[gnu::noinline]] static Word pass_on_behind_jump(Words... words) {
    return show<phase, call, form>(words..., wrapped, CALLER, FRAME);
  }

  /// The words stand first, so that they stay where they came.
  template <int phase, Call call, Form form>
  [[gnu::noinline]] static Word pass_on(Words... words, Wrapped<Word(Words...)>& wrapped, const void* caller,
                                        const void* frame) {
    return show<phase, call, form>(words..., wrapped, caller, frame);
  }

  template <int phase, Call call, Form form>
  [[gnu::always_inline]] static Word show(Words... words, Wrapped<Word(Words...)>& wrapped, const void* caller,
                                          const void* frame) {
    if constexpr (frees_a_handle(call)) handles.forget_communicator();
    const auto next = next_of(wrapped, caller);
    Word all[] = {words...};
    int error = 0;
    ask_for_error<call, form>(all, error);
    constexpr auto shown_as = static_cast<wire::Phase>(phase);
    constexpr bool waits = shown_as == wire::Phase::kWait;
    bool is_shown = false;
    if constexpr (asks(call))
      is_shown = enter_ask(call, frame, caller);
    else if constexpr (starts_requests(call) && !waits)
      is_shown = start<call, form>(all, frame, caller);
    else
      is_shown = enter(call, shown_as, frame, caller);
    if (!is_shown) {
      if constexpr (starts_a_request(call)) note_start_within(wrapped, caller);
      CallOfThread of_thread(call, shown_as, frame);
      if constexpr (carries_of(call) == Carries::kNone) {
        return next(words...);
      } else {
        const unsigned handlers_before = handler_runs;
        const Word result = call_as<form>(next, all, words...);
        const bool is_sound = !may_handler_have_run_since(handlers_before) && has_succeeded<call, form>(result, all);
        if (is_sound) count_sent_by_thread<call, form>(of_thread, all);
        return result;
      }
    }
    handles.call_began(handles.generation());
    note_before<call, form>(all);
    const Word result = call_as<form>(next, all, words...);
    const bool is_sound = !may_handler_have_run() && has_succeeded<call, form>(result, all);
    [[maybe_unused]] habits::Answer answer = habits::Answer::kNothing;
    if constexpr (asks(call))
      if (is_sound) answer = answer_of<call>(all);
    const Sent sent = is_sound ? count_sent<call, form>(all) : Sent();
    note_after<call, form, waits>(all, is_sound, sent);
    if constexpr (asks(call))
      leave_ask(call, caller, answer);
    else if constexpr (waits)
      leave_wait<call>(concerned_by<call, form>(all, is_sound), sent, caller);
    else
      leave(sent.bytes);
    return result;
  }

  template <Call call>
  static void leave_wait(Concerned concerned, const Sent& sent, const void* caller) {
    const std::uintptr_t at = at_of(caller, concerned.all);
    if constexpr (call == kSend)
      leave_send(at, concerned.peers, sent.bytes, sent.to);
    else
      mpi::leave_wait(call, at, concerned.peers, sent.bytes);
  }

  template <Call call, Form form>
  static bool start(const Word* words, const void* frame, const void* caller) {
    const Handles::Key comm = comm_of<call, form>(words);
    return enter_start(call, frame, caller, peers_by<call, form>(words, Handles::is_world(comm)), comm);
  }

  /// In Fortran with an error that may be ours.
  template <Form form, class Function>
  static Word call_as(Function* next, const Word* all, Words... words) {
    if constexpr (is_fortran(form))
      return call_with(next, all, std::index_sequence_for<Words...>());
    else
      return next(words...);
  }

  /// Of a call that is not shown, but may concern messages.
  template <Call call, Form form>
  [[gnu::noinline]] static Word note(Words... words, Wrapped<Word(Words...)>& wrapped, const void* caller,
                                     const void* frame) {
    const std::uint32_t generation = handles.generation();
    Word all[] = {words...};
    int error = 0;
    ask_for_error<call, form>(all, error);
    const unsigned handlers_before = handler_runs;
    const Word result = call_with(next_of(wrapped, caller), all, std::index_sequence_for<Words...>());
    if (!is_reporting()) return result;
    if (!take_turn(frame, caller)) {
      note_start_within(wrapped, caller);
      return result;
    }
    handles.call_began(generation);
    const bool is_sound = !may_handler_have_run_since(handlers_before) && has_succeeded<call, form>(result, all);
    note_after<call, form, false>(all, is_sound, Sent());
    end_turn();
    return result;
  }

  /// Of one that begins an MPI session.
  template <Call call, Form form>
  [[gnu::noinline, gnu::cold]] static Word begin_session(Words... words, Wrapped<Word(Words...)>& wrapped,
                                                         const void* caller) {
    if (is_without_mpi(caller)) forget_library();
    Word all[] = {words...};
    int error = 0;
    ask_for_error<call, form>(all, error);
    const unsigned handlers_before = handler_runs;
    const Word result = call_with(next_of(wrapped, caller), all, std::index_sequence_for<Words...>());
    constexpr int session = place_of(call, "session");
    if (!may_handler_have_run_since(handlers_before) && has_succeeded<call, form>(result, all))
      begin_mpi_session(reinterpret_cast<const void*>(all[session]), language_of(form), caller);
    return result;
  }
};

}  // namespace
}  // namespace idlewave::mpi

using namespace idlewave::mpi;

/// Then the statements that end with the call of `next`.
#define EXPORT(function, types, ...)                              \
  extern "C" [[gnu::visibility("default")]] Word function types { \
    using Function = Word types;                                  \
    static constinit Wrapped<Function> wrapped{#function};        \
    __VA_ARGS__                                                   \
  }

/// Without a session two loads, two tests and a jump.
#define WRAP(phase, function, call, form, types, ...)                                            \
  EXPORT(function, types, {                                                                      \
    Function* const next = wrapped.known_next();                                                 \
    if (next != nullptr && watch.reporter.load(std::memory_order_relaxed) == nullptr) [[likely]] \
      return next(__VA_ARGS__);                                                                  \
    if constexpr (leaves_by_jump(form))                                                          \
      return Shown<Function>::pass_on_behind_jump<phase, call, form, wrapped>(__VA_ARGS__);      \
    return Shown<Function>::pass_on<phase, call, form>(__VA_ARGS__, wrapped, CALLER, FRAME);     \
  })
#define WRAP_WAIT(...) WRAP(IDLEWAVE_WAIT, __VA_ARGS__)
#define WRAP_COMMUNICATE(...) WRAP(IDLEWAVE_COMMUNICATE, __VA_ARGS__)

#define WRAP_INIT(function, call, form, types, ...)            \
  EXPORT(function, types, {                                    \
    forget_library();                                          \
    const Word result = next_of(wrapped, CALLER)(__VA_ARGS__); \
    begin(CALLER);                                             \
    return result;                                             \
  })
#define WRAP_SESSION(function, call, form, types, ...) \
  EXPORT(function, types, return Shown<Function>::begin_session<call, form>(__VA_ARGS__, wrapped, CALLER);)
#define WRAP_SESSIONEND(function, call, form, types, ...)                                            \
  EXPORT(function, types, {                                                                          \
    const EndOfMpiSession end(reinterpret_cast<const void*>(a0), language_of(form), CALLER);         \
    return Shown<Function>::pass_on<IDLEWAVE_WAIT, call, form>(__VA_ARGS__, wrapped, CALLER, FRAME); \
  })
#define WRAP_PREPARE(function, call, form, types, ...) \
  EXPORT(function, types, return Shown<Function>::note<call, form>(__VA_ARGS__, wrapped, CALLER, FRAME);)
#define WRAP_BEHIND(before, function, call, form, types, ...) \
  EXPORT(function, types, {                                   \
    before;                                                   \
    return next_of(wrapped, CALLER)(__VA_ARGS__);             \
  })
#define WRAP_HANDLER(...) WRAP_BEHIND(a0 = counted_handler(a0), __VA_ARGS__)
#define WRAP_FORGET(...) WRAP_BEHIND(handles.forget(), __VA_ARGS__)
#define WRAP_FINALIZE(...) WRAP_BEHIND(end(), __VA_ARGS__)
/// What follows the level is for whichever tool stands behind us, and may be floating-point numbers as well: those stand in
/// registers of their own, of which a function with dots is told how many at most.
#define WRAP_PCONTROL(function, ...)                                                                             \
  extern "C" [[gnu::visibility("default")]] Word function(Word a0, Word a1, Word a2, Word a3, Word a4, Word a5,  \
                                                          double d0, double d1, double d2, double d3, double d4, \
                                                          double d5, double d6, double d7) {                     \
    static constinit Wrapped<Word(Word, ...)> wrapped{#function};                                                \
    control(static_cast<int>(a0), FRAME, CALLER);                                                                \
    return next_of(wrapped, CALLER)(a0, a1, a2, a3, a4, a5, d0, d1, d2, d3, d4, d5, d6, d7);                     \
  }
#define WRAP_PCONTROL_FORTRAN(...) WRAP_BEHIND(control(*reinterpret_cast<const int*>(a0), FRAME, CALLER), __VA_ARGS__)

#include "probe/mpi/wrappers.inc"
