#include "probe/mpi/reporting.h"

#include <idlewave/probe.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <atomic>

#include "probe/client/libc_parts.h"
#include "probe/client/own_rank.h"
#include "probe/client/precedence.h"
#include "probe/mpi/hand_linked.h"
#include "probe/mpi/handles.h"
#include "probe/mpi/messages.h"
#include "probe/mpi/open_sessions.h"
#include "probe/mpi/symbols.h"
#include "probe/mpi/trouble.h"
#include "probe/mpi/watcher.h"
#include "probe/mpi/world.h"

namespace idlewave::mpi {

constinit OpenSessions open_sessions;

namespace {

constinit std::atomic<bool> was_begun{false};
constinit std::atomic<bool> was_ended{false};
constinit std::atomic<bool> has_world{false};  ///< Between MPI_Init and MPI_Finalize.
constinit std::atomic<bool> again_is_noted{false};
constinit std::atomic<bool> stands_back{false};

void be_silent() { watch.reporter.store(nullptr, std::memory_order_relaxed); }

/// A tool of the kind that takes calls and hands them on by their names for tools may be part of the program. Null: no
/// call is hidden from us. Asks the linker for every name.
const char* hidden_call() {
  const NamesForAll names;
  for (const CallInfo& call : calls())
    if (!names.come_to_us(call.name)) return call.name;
  return nullptr;
}

void note_hidden_call(const char* name) {
  char line[256];
  snprintf(line, sizeof line, "the program has an %s of its own: such calls are not seen, and count as computing",
           name);
  note(line);
}

/// Of the thread that reports.
void learn_stack() {
  pthread_attr_t thread;
  void* begin = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &thread) != 0) return;
  if (pthread_attr_getstack(&thread, &begin, &size) == 0) {
    watch.stack_begin = begin;
    watch.stack_end = static_cast<const char*>(begin) + size;
  }
  pthread_attr_destroy(&thread);
}

void report(const World& world, const void* caller) {
  // All that takes long comes first: from the start on, time is the program's.
  learn_stack();
  const char* const hidden = hidden_call();
  const wire::StepSource step_source = choose_step_source();
  handles.begin(caller, world.interface);
  if (world.has_communicator) handles.world_begins();
  messages.begin(caller, world.interface, world.rank, world.size);
  client::in_forked_children(be_silent);
  if (!idlewave_start(world.rank, world.size)) return;
  client::tell_step_source(step_source);
  watch.sums.begin(*client::own_slot());
  idlewave_switch_(IDLEWAVE_COMPUTE);
  watch.reporter.store(__builtin_thread_pointer(), std::memory_order_relaxed);
  if (hidden != nullptr) note_hidden_call(hidden);
}

void report_if_known(const World& world, const void* caller) {
  if (world.why_not == nullptr) return report(world, caller);
  char line[256];
  snprintf(line, sizeof line, "a rank is not watched: %s", world.why_not);
  note(line);
}

/// There is a session to report to, and nobody else does.
bool may_report() { return text_of("IDLEWAVE_SESSION") != nullptr && !stands_back && !is_hand_linked(); }

/// MPI begins once more in a process: beside an MPI session, after the last one, or after its end.
void go_on() {
  if (was_ended.load()) {
    if (!again_is_noted.exchange(true))
      note("MPI has begun once more in a rank whose MPI had ended: what it does then is not seen");
    return;
  }
  if (watch.reporter.load() != nullptr) return;
  if (client::is_reporter()) idlewave_switch_(IDLEWAVE_COMPUTE);
  watch.reporter.store(client::probe.reporter.load(), std::memory_order_relaxed);
}

/// The last MPI session is over, and there may be another.
void pause() {
  be_silent();
  if (client::is_reporter()) idlewave_switch_(IDLEWAVE_NONE);
}

void stop() {
  be_silent();
  was_ended = true;
  idlewave_stop();
}

}  // namespace

void begin(const void* caller) {
  if (!may_report() || !is_initialized(caller)) return;
  has_world = true;
  if (!was_begun.exchange(true)) return report_if_known(look_at_world(caller), caller);
  go_on();
  if (is_reporting()) handles.world_begins();
}

void end() {
  has_world = false;
  if (!is_reporting()) return;
  open_sessions.is_empty() ? stop() : handles.world_ends();
}

bool is_without_mpi(const void* caller) { return open_sessions.is_empty() && !is_initialized(caller); }

void begin_mpi_session(const void* handle, Language language, const void* caller) {
  if (!may_report()) return;
  const Word session = session_in_c(handle, language, caller);
  if (session != 0) open_sessions.add(session);
  if (!was_begun.exchange(true)) return report_if_known(look_at_session(session, caller), caller);
  go_on();
}

EndOfMpiSession::EndOfMpiSession(const void* handle, Language language, const void* caller) : handle_(handle) {
  if (handle == nullptr || open_sessions.is_empty()) return;
  memcpy(&before_, handle, sizeof before_);
  const Word session = session_in_c(handle, language, caller);
  if (session == 0 || !open_sessions.remove(session)) return;
  session_ = session;
  handles.forget();
}

EndOfMpiSession::~EndOfMpiSession() {
  if (session_ == 0) return;
  const bool is_open = memcmp(&before_, handle_, sizeof before_) == 0;  // the library has refused to end it
  if (is_open)
    open_sessions.add(session_);
  else if (open_sessions.is_empty() && !has_world.load())
    pause();
}

}  // namespace idlewave::mpi

/// What the program's own client asks of us; beside it the program can see the functions of MPI and of OMPT that we have.
extern "C" [[gnu::visibility("default")]] void idlewave_stand_back_() {
  idlewave::mpi::stands_back = true;
  if (idlewave::client::is_reporter()) idlewave::mpi::stop();
}

/// We are the one who would have to go.
void idlewave::client::take_precedence() {}
