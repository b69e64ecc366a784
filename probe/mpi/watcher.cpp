#include "probe/mpi/watcher.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <array>
#include <atomic>
#include <iterator>

#include "probe/client/libc_parts.h"
#include "probe/client/own_rank.h"
#include "probe/client/precedence.h"
#include "probe/mpi/habits/step_finder.h"
#include "probe/mpi/hand_linked.h"
#include "probe/mpi/handles.h"
#include "probe/mpi/messages.h"
#include "probe/mpi/open_sessions.h"
#include "probe/mpi/symbols.h"
#include "probe/mpi/trouble.h"
#include "probe/mpi/world.h"

namespace idlewave::mpi {

constinit Watch watch;
constinit OpenSessions open_sessions;

namespace {

using wire::StepSource;

/// The program itself counts most.
struct Steps {
  StepSource source = StepSource::kFound;
  int call = -1;            ///< kCall: a Call.
  wire::Step next = 0;      ///< Unless found.
  std::uint64_t words = 0;  ///< Of the program, that a step begins.
  habits::StepFinder finder;
};

constinit Steps steps;

/// Below 0 for good once a filter of system calls has refused it. The program's errno stays as it is.
std::int64_t processor_time() {
  static constinit std::atomic<bool> is_refused = false;
  if (is_refused.load(std::memory_order_relaxed)) return -1;
  const int error_of_program = errno;
  timespec time{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0)
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  is_refused.store(true, std::memory_order_relaxed);
  errno = error_of_program;
  return -1;
}

/// Of the thread that reports.
struct Asking {
  habits::Polling polling{processor_time};
  bool is_shown_as_wait = false;  ///< What has gone on since the latest question, and goes on.
  wire::Nanoseconds work{};       ///< Before the first of those that were answered in vain, and between them.
};
constinit Asking asking;
constinit std::atomic<bool> was_begun{false};
constinit std::atomic<bool> was_ended{false};
constinit std::atomic<bool> has_world{false};  ///< Between MPI_Init and MPI_Finalize.
constinit std::atomic<bool> again_is_noted{false};
constinit std::atomic<bool> stands_back{false};

void be_silent() { watch.reporter.store(nullptr, std::memory_order_relaxed); }

void choose_step_source() {
  const char* asked = text_of("IDLEWAVE_STEP_AT");
  if (asked == nullptr) return;
  int number = 0;
  for (const CallInfo& call : calls()) {
    if (call.waits && strcmp(call.name, asked) == 0) {
      steps.source = StepSource::kCall;
      steps.call = number;
    }
    ++number;
  }
}

/// Calls find out whether they are to say with whom they were where they look anyway.
void tell_messages(wire::Step step) { client::probe.lane.be_looked_after(messages.step(step)); }

void step(wire::Step number) {
  tell_messages(number);
  idlewave_step_(number);
}

/// Once alone is what programs say to switch a profiler on.
void begin_step_by_word() {
  if (++steps.words == 1 && steps.next > 0) return;
  if (steps.words == 2) client::tell_step_source(steps.source = StepSource::kControl);
  step(steps.next++);
}

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
  choose_step_source();
  handles.begin(caller, world.interface);
  if (world.has_communicator) handles.world_begins();
  messages.begin(caller, world.interface, world.rank, world.size);
  client::in_forked_children(be_silent);
  if (!idlewave_start(world.rank, world.size)) return;
  client::tell_step_source(steps.source);
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

constexpr std::uintptr_t function_of(Call call) {
  using enum Call;
  auto ends = habits::CallSite::Ends::kNone;
  if (call == kWait || call == kWaitall || call == kWaitany) ends = habits::CallSite::Ends::kRequests;
  if (call == kTest || call == kTestall || call == kTestany) ends = habits::CallSite::Ends::kRequests;
  if (call == kWaitsome || call == kTestsome) ends = habits::CallSite::Ends::kSomeRequests;
  return habits::CallSite::call_of(static_cast<std::uintptr_t>(call), ends);
}
constexpr auto kFunctions = [] {
  std::array<std::uintptr_t, std::size(kArguments)> functions{};
  for (std::size_t i = 0; i < functions.size(); ++i) functions[i] = function_of(static_cast<Call>(i));
  return functions;
}();

inline std::uintptr_t place_in_finder(const void* place, bool of_all) {
  constexpr std::uintptr_t kOfSome = std::uintptr_t{1} << 63;  // no address has it
  return reinterpret_cast<std::uintptr_t>(place) | (of_all ? 0 : kOfSome);
}
/// Of the call that goes on.
habits::CallSite site_of(Call call, std::uintptr_t place) {
  return {.place = place,
          .frame = reinterpret_cast<std::uintptr_t>(watch.inside.load(std::memory_order_relaxed)),
          .call = kFunctions[static_cast<std::size_t>(call)]};
}

[[gnu::noinline]] wire::Step find_step(Call call, std::uintptr_t place, Peers peers, wire::Nanoseconds work) {
  const wire::Step found = steps.finder.leave(site_of(call, place), peers, work);
  if (found != wire::kNoStep) steps.next = found + 1;
  return found;
}

[[gnu::noinline, gnu::cold]] wire::Step step_asked_for(Call call) {
  const bool is_it = steps.source == StepSource::kCall && static_cast<int>(call) == steps.call;
  return is_it ? steps.next++ : wire::kNoStep;
}

/// The number of the step that begins with the end of that call, before which the rank has worked; kNoStep: none does.
inline wire::Step step_behind(Call call, const void* place, Concerned concerned, wire::Nanoseconds work) {
  if (steps.source != StepSource::kFound) [[unlikely]]
    return step_asked_for(call);
  const std::uintptr_t at = place_in_finder(place, concerned.all);
  if (steps.finder.passes(at, concerned.peers)) [[likely]]
    return wire::kNoStep;
  return find_step(call, at, concerned.peers, work);
}

/// Orders that hold the rank before it works again, or before its step begins.
template <class Switch>
wire::Nanoseconds without_orders(Switch switch_to) {
  const std::int64_t held_before = watch.sums.held_ns();
  const wire::Nanoseconds now = switch_to();
  watch.sums.leave_out(watch.sums.held_ns() - held_before);
  return now;
}

/// A call is over, with which that step begins: its time in ns.
[[gnu::noinline]] std::int64_t close_step(wire::Step step, std::int64_t bytes) {
  tell_messages(step);
  const auto step_into = [step] { return client::step_into(step, wire::Phase::kCompute); };
  return watch.sums.close(without_orders(step_into), bytes);
}

/// A call is over that is to say with whom it was, or is in other ways not like most.
[[gnu::noinline]] std::int64_t close_with_care(wire::Step step, std::int64_t bytes) {
  if (!client::is_reporter()) return 0;
  const wire::CallPartners with = messages.take_partners();
  if (step == wire::kNoStep && !client::probe.gates.is_called()) [[likely]]
    return watch.sums.close(client::probe.lane.switch_to(wire::Phase::kCompute, with), bytes);
  const auto switch_to = [&] {
    if (step == wire::kNoStep) return client::switch_to(wire::Phase::kCompute, with);
    return with == wire::CallPartners() ? client::step_into(step, wire::Phase::kCompute)
                                        : client::step_into(step, wire::Phase::kCompute, with);
  };
  if (step != wire::kNoStep) tell_messages(step);
  return watch.sums.close(without_orders(switch_to), bytes);
}

[[gnu::noinline, gnu::cold]] void obey_within_call() {
  without_orders([] { return client::obey_at_work(), wire::Nanoseconds(); });
}

/// A call is over, with which a step may begin: its time in ns.
[[gnu::always_inline]] inline std::int64_t close(wire::Step step, std::int64_t bytes) {
  if (!client::probe.lane.is_plain()) [[unlikely]]
    return close_with_care(step, bytes);
  if (step != wire::kNoStep) [[unlikely]]
    return close_step(step, bytes);
  if (client::probe.gates.is_called()) [[unlikely]]
    obey_within_call();
  return watch.sums.close(client::probe.lane.switch_plainly(wire::Phase::kCompute), bytes);
}
[[gnu::always_inline]] inline std::int64_t close(Call call, const void* place, Concerned concerned,
                                                 std::int64_t bytes) {
  return close(step_behind(call, place, concerned, watch.sums.work_before()), bytes);
}

/// The rank has worked since the latest question was answered in vain, which was not expected.
void take_wait_back() {
  asking.is_shown_as_wait = false;
  client::probe.lane.switch_since(wire::Phase::kCompute, asking.polling.left_at());
}

/// Another call begins.
[[gnu::noinline]] void stop_asking(Call call, const void* caller) {
  using enum Call;
  if (asking.is_shown_as_wait) take_wait_back();
  const bool waits = call == kWait || call == kWaitall || call == kWaitany || call == kWaitsome;
  const std::uintptr_t place = waits ? reinterpret_cast<std::uintptr_t>(caller) : 0;
  const std::uintptr_t counted_as = asking.polling.turn_away(place);
  if (counted_as != 0) steps.finder.take_for(counted_as, place);
}

/// Before a call that starts requests: what a rank did before may have ended the step before, as is known only now.
[[gnu::noinline]] void find_step_behind_last(Call call, const void* place, Concerned concerned) {
  if (steps.source != StepSource::kFound) return;
  const wire::Step step = steps.finder.start(site_of(call, place_in_finder(place, concerned.all)), concerned.peers);
  if (step == wire::kNoStep) [[likely]]
    return;
  steps.next = step + 1;
  tell_messages(step);
  client::step_behind_last(step);
}

/// While switches are short somebody reports.
inline bool may_enter() { return is_reporting() && (client::probe.lane.is_short() || client::is_reporter()); }

}  // namespace

/// On x86-64 it stands below a frame where that goes back to. A stack of its own, as of a signal handler or a coroutine,
/// tells nothing, and may be gone.
bool goes_on_inside(const void* frame) {
#if defined(__x86_64__)
  const auto* const inside = static_cast<const void* const*>(watch.inside.load(std::memory_order_relaxed));
  if (frame < watch.stack_begin || inside > watch.stack_end) return true;
  return inside[-1] == watch.inside_caller.load(std::memory_order_relaxed);
#else
  return static_cast<void>(frame), true;
#endif
}

bool enter(Call call, wire::Phase phase, const void* frame, const void* caller) {
  if (!may_enter()) [[unlikely]]
    return false;
  if (!take_turn(frame, caller)) return false;
  if (asking.polling.is_open()) [[unlikely]]
    stop_asking(call, caller);
  watch.sums.open(call, client::probe.lane.switch_to(phase));
  return true;
}

bool enter_start(Call call, wire::Phase phase, const void* frame, const void* caller, Concerned concerned) {
  if (!may_enter()) [[unlikely]]
    return false;
  if (!take_turn(frame, caller)) return false;
  if (asking.polling.is_open()) [[unlikely]]
    stop_asking(call, caller);
  const bool is_new_to_finder = !steps.finder.passes_start(concerned.peers);
  if (is_new_to_finder) [[unlikely]]
    find_step_behind_last(call, caller, concerned);
  watch.sums.open(call, client::probe.lane.switch_to(phase));
  if (is_new_to_finder) [[unlikely]]
    steps.finder.worked(watch.sums.work_before());
  return true;
}

bool enter_ask(Call call, const void* frame, const void* caller) {
  if (!may_enter()) [[unlikely]]
    return false;
  if (!take_turn(frame, caller)) return false;
  const bool goes_on = asking.polling.goes_on();
  bool is_idle = false;
  if (goes_on) {
    const wire::Nanoseconds now = client::probe.lane.now();
    is_idle = asking.polling.ask_again(now);
    if (is_idle && asking.is_shown_as_wait) {
      watch.sums.open(call, now);
      return true;
    }
    if (asking.is_shown_as_wait) take_wait_back();
  }
  watch.sums.open(call, client::probe.lane.switch_to(wire::Phase::kCommunicate));
  if (!goes_on) asking.work = wire::Nanoseconds{0};
  if (!is_idle) asking.work += watch.sums.work_before();
  return true;
}

namespace {

/// What follows is the wait that has been expected, if it is.
wire::Nanoseconds ask_in_vain(const void* place) {
  const wire::Nanoseconds began = watch.sums.began();
  wire::Nanoseconds now = std::max(began, client::probe.lane.now());
  const bool is_idle = asking.polling.ask_in_vain(reinterpret_cast<std::uintptr_t>(place), now);
  if (!is_idle || !asking.is_shown_as_wait)
    now = without_orders([is_idle] { return client::switch_to(is_idle ? wire::Phase::kWait : wire::Phase::kCompute); });
  asking.is_shown_as_wait = is_idle;
  return now;
}

/// The number of the step that begins with it; kNoStep: none does.
wire::Step finish_asking(Call call, const void* place) {
  const std::uintptr_t counts_as = asking.polling.finish(reinterpret_cast<std::uintptr_t>(place));
  if (counts_as == 0) return wire::kNoStep;
  return step_behind(call, reinterpret_cast<const void*>(counts_as), {.all = true}, asking.work);
}

}  // namespace

void leave_ask(Call call, const void* place, habits::Answer answer) {
  if (!client::is_reporter()) [[unlikely]]
    return end_turn();
  if (answer == habits::Answer::kNotYet) {
    watch.sums.close(ask_in_vain(place), client::CallCounter::kUnknownBytes);
    return end_turn();
  }
  asking.is_shown_as_wait = false;
  wire::Step step = wire::kNoStep;
  if (answer == habits::Answer::kDone) step = finish_asking(call, place);
  if (answer == habits::Answer::kSeen) asking.polling.see(reinterpret_cast<std::uintptr_t>(place));
  if (answer == habits::Answer::kNothing) asking.polling.ask_for_nothing(reinterpret_cast<std::uintptr_t>(place));
  close(step, client::CallCounter::kUnknownBytes);
  end_turn();
}

void leave(std::int64_t bytes) {
  close(wire::kNoStep, bytes);
  end_turn();
}

void leave_wait(Call call, const void* place, Concerned concerned, std::int64_t bytes) {
  close(call, place, concerned, bytes);
  end_turn();
}

void leave_send(const void* place, Concerned concerned, std::int64_t bytes, Partner to) {
  messages.sent(to, bytes, close(Call::kSend, place, concerned, bytes));
  end_turn();
}

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

void control(int level, const void* frame, const void* caller) {
  if (level != 1 || !is_reporting() || !take_turn(frame, caller)) return;
  begin_step_by_word();
  end_turn();
}

}  // namespace idlewave::mpi

/// What the program's own client asks of us; beside it the program can see the functions of MPI and of OMPT that we have.
extern "C" [[gnu::visibility("default")]] void idlewave_stand_back_() {
  idlewave::mpi::stands_back = true;
  if (idlewave::client::is_reporter()) idlewave::mpi::stop();
}

/// We are the one who would have to go.
void idlewave::client::take_precedence() {}
