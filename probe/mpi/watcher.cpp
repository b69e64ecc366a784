#include "probe/mpi/watcher.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <array>
#include <atomic>
#include <iterator>

#include "probe/client/libc_parts.h"
#include "probe/client/own_rank.h"
#include "probe/mpi/habits/step_finder.h"
#include "probe/mpi/handles.h"
#include "probe/mpi/messages.h"
#include "probe/mpi/trouble.h"

namespace idlewave::mpi {

constinit Watch watch;

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

/// Of the call that goes on.
inline std::uintptr_t frame() { return reinterpret_cast<std::uintptr_t>(watch.inside.load(std::memory_order_relaxed)); }
habits::CallSite site_of(Call call, std::uintptr_t place) {
  return {.place = place, .frame = frame(), .call = kFunctions[static_cast<std::size_t>(call)]};
}
/// `at`: as of at_of().
inline std::uintptr_t place_of(std::uintptr_t at) { return steps.finder.place_of(at, frame()); }

[[gnu::noinline]] wire::Step find_step(Call call, std::uintptr_t place, Peers peers, wire::Nanoseconds work) {
  const wire::Step found = steps.finder.leave(site_of(call, place), peers, work);
  if (found != wire::kNoStep) steps.next = found + 1;
  return found;
}

[[gnu::noinline, gnu::cold]] wire::Step step_asked_for(Call call) {
  const bool is_it = steps.source == StepSource::kCall && static_cast<int>(call) == steps.call;
  return is_it ? steps.next++ : wire::kNoStep;
}

/// Steps are found, and with the end of that call none begins.
inline bool passes(std::uintptr_t place, Peers peers) {
  return steps.source == StepSource::kFound && steps.finder.passes(place, peers);
}

/// The number of the step that begins with the end of that call, before which the rank has worked; kNoStep: none does.
inline wire::Step step_behind(Call call, std::uintptr_t place, Peers peers, wire::Nanoseconds work) {
  if (steps.source != StepSource::kFound) [[unlikely]]
    return step_asked_for(call);
  return steps.finder.passes(place, peers) ? wire::kNoStep : find_step(call, place, peers, work);
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
[[gnu::always_inline]] inline std::int64_t close(Call call, std::uintptr_t place, Peers peers, std::int64_t bytes) {
  return close(step_behind(call, place, peers, watch.sums.work_before()), bytes);
}

/// With the end of a call nothing is to be done but to tell it.
inline bool is_left_plainly() {
  return client::probe.lane.is_plain() && !client::probe.gates.is_called() && watch.sums.has_place();
}
/// Then it is over. What does not need the time comes ahead of it: no register is saved for what has to be kept over the stamp.
[[gnu::always_inline]] inline void leave_plainly(std::int64_t bytes) {
  watch.sums.count(bytes);
  watch.sums.close_at(client::probe.lane.switch_plainly(wire::Phase::kCompute));
  end_turn();
}
[[gnu::noinline]] void leave_with_care(std::int64_t bytes) {
  close(wire::kNoStep, bytes);
  end_turn();
}
[[gnu::noinline]] void leave_wait_with_care(Call call, std::uintptr_t place, Peers peers, std::int64_t bytes) {
  close(call, place, peers, bytes);
  end_turn();
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
  const std::uintptr_t place = waits ? place_of(at_of(caller, true)) : 0;
  const std::uintptr_t counted_as = asking.polling.turn_away(place);
  if (counted_as != 0) steps.finder.take_for(counted_as, place);
}

/// Before a call that starts requests: what a rank did before may have ended the step before, as is known only now.
[[gnu::noinline]] void find_step_behind_last(Call call, std::uintptr_t place, Peers peers) {
  if (steps.source != StepSource::kFound) return;
  const wire::Step step = steps.finder.start(site_of(call, place), peers);
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

namespace {

/// With the beginning of a call nothing is to be done but to tell it. No other is open, or it would have its turn.
inline bool is_entered_plainly() {
  return is_reporting() && client::probe.lane.is_short() && watch.inside.load(std::memory_order_relaxed) == nullptr &&
         !asking.polling.is_open();
}
[[gnu::always_inline]] inline bool enter_plainly(Call call, wire::Phase phase) {
  watch.sums.open(call);
  watch.sums.begin_at(client::probe.lane.switch_plainly(phase));
  return true;
}

[[gnu::noinline]] bool enter_with_care(Call call, wire::Phase phase, const void* frame, const void* caller) {
  if (!may_enter() || !take_turn(frame, caller)) return false;
  if (asking.polling.is_open()) stop_asking(call, caller);
  watch.sums.open(call, client::probe.lane.switch_to(phase));
  return true;
}

/// Of a call that has its turn.
[[gnu::noinline]] bool enter_start_within_turn(Call call, const void* caller, Peers peers, Handles::Key comm) {
  if (asking.polling.is_open()) stop_asking(call, caller);
  const bool is_new_to_finder = !steps.finder.passes_start(peers);
  if (is_new_to_finder)
    find_step_behind_last(call, place_of(at_of(caller, comm.is_none() || Handles::is_world(comm))), peers);
  watch.sums.open(call, client::probe.lane.switch_to(wire::Phase::kCommunicate));
  if (is_new_to_finder) steps.finder.worked(watch.sums.work_before());
  return true;
}
[[gnu::noinline]] bool enter_start_with_care(Call call, const void* frame, const void* caller, Peers peers,
                                             Handles::Key comm) {
  return may_enter() && take_turn(frame, caller) && enter_start_within_turn(call, caller, peers, comm);
}

}  // namespace

bool enter(Call call, wire::Phase phase, const void* frame, const void* caller) {
  if (!is_entered_plainly()) [[unlikely]]
    return enter_with_care(call, phase, frame, caller);
  begin_turn(frame, caller);
  return enter_plainly(call, phase);
}

bool enter_start(Call call, const void* frame, const void* caller, Peers peers, Handles::Key comm) {
  if (!is_entered_plainly()) [[unlikely]]
    return enter_start_with_care(call, frame, caller, peers, comm);
  begin_turn(frame, caller);
  if (!steps.finder.passes_start(peers)) [[unlikely]]
    return enter_start_within_turn(call, caller, peers, comm);
  return enter_plainly(call, wire::Phase::kCommunicate);
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
wire::Nanoseconds ask_in_vain(std::uintptr_t place) {
  const wire::Nanoseconds began = watch.sums.began();
  wire::Nanoseconds now = std::max(began, client::probe.lane.now());
  const bool is_idle = asking.polling.ask_in_vain(place, now);
  if (!is_idle || !asking.is_shown_as_wait)
    now = without_orders([is_idle] { return client::switch_to(is_idle ? wire::Phase::kWait : wire::Phase::kCompute); });
  asking.is_shown_as_wait = is_idle;
  return now;
}

/// The number of the step that begins with it; kNoStep: none does.
wire::Step finish_asking(Call call, std::uintptr_t place) {
  const std::uintptr_t counts_as = asking.polling.finish(place);
  if (counts_as == 0) return wire::kNoStep;
  return step_behind(call, counts_as, kNobody, asking.work);
}

}  // namespace

void leave_ask(Call call, const void* caller, habits::Answer answer) {
  if (!client::is_reporter()) [[unlikely]]
    return end_turn();
  const std::uintptr_t place = place_of(at_of(caller, true));
  if (answer == habits::Answer::kNotYet) {
    watch.sums.close(ask_in_vain(place), client::CallCounter::kUnknownBytes);
    return end_turn();
  }
  asking.is_shown_as_wait = false;
  wire::Step step = wire::kNoStep;
  if (answer == habits::Answer::kDone) step = finish_asking(call, place);
  if (answer == habits::Answer::kSeen) asking.polling.see(place);
  if (answer == habits::Answer::kNothing) asking.polling.ask_for_nothing(place);
  close(step, client::CallCounter::kUnknownBytes);
  end_turn();
}

void leave(std::int64_t bytes) {
  if (!is_left_plainly()) [[unlikely]]
    return leave_with_care(bytes);
  leave_plainly(bytes);
}

void leave_wait(Call call, std::uintptr_t at, Peers peers, std::int64_t bytes) {
  const std::uintptr_t place = place_of(at);
  if (!is_left_plainly() || !passes(place, peers)) [[unlikely]]
    return leave_wait_with_care(call, place, peers, bytes);
  leave_plainly(bytes);
}

void leave_send(std::uintptr_t at, Peers peers, std::int64_t bytes, Partner to) {
  messages.sent(to, bytes, close(Call::kSend, place_of(at), peers, bytes));
  end_turn();
}

StepSource choose_step_source() {
  const char* asked = text_of("IDLEWAVE_STEP_AT");
  if (asked == nullptr) return steps.source;
  int number = 0;
  for (const CallInfo& call : calls()) {
    if (call.waits && strcmp(call.name, asked) == 0) {
      steps.source = StepSource::kCall;
      steps.call = number;
    }
    ++number;
  }
  return steps.source;
}

void control(int level, const void* frame, const void* caller) {
  if (level != 1 || !is_reporting() || !take_turn(frame, caller)) return;
  begin_step_by_word();
  end_turn();
}

}  // namespace idlewave::mpi
