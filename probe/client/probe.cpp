// The calls of idlewave/probe.h for the one rank that a process is.

#pragma GCC visibility push(default)
#include <idlewave/probe.h>
#pragma GCC visibility pop

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "probe/client/libc_parts.h"
#include "probe/client/own_rank.h"
#include "probe/client/precedence.h"
#include "probe/client/settings.h"
#include "probe/session/trouble_log.h"

int idlewave_is_on_ = 0;

namespace idlewave::client {

constinit Probe probe;

namespace {

static_assert(IDLEWAVE_NONE == static_cast<int>(wire::Phase::kNone) &&
              IDLEWAVE_COMPUTE == static_cast<int>(wire::Phase::kCompute));
static_assert(IDLEWAVE_WAIT == static_cast<int>(wire::Phase::kWait) &&
              IDLEWAVE_DELAY == static_cast<int>(wire::Phase::kDelay));
static_assert(IDLEWAVE_COMMUNICATE == static_cast<int>(wire::Phase::kCommunicate));
static_assert(IDLEWAVE_RENDEZVOUS == shm::PartnerBook::kRendezvous &&
              IDLEWAVE_COLLECTIVE == shm::PartnerBook::kCollective &&
              IDLEWAVE_UNCERTAIN == shm::PartnerBook::kUncertain);

/// Whoever is within a call finds the lane not plain, and that nobody reports.
void switch_off() {
  probe.reporter.store(nullptr);
  probe.lane.be_plain_no_more();
  __atomic_store_n(&idlewave_is_on_, 0, __ATOMIC_RELAXED);
}

void switch_on() {
  probe.reporter.store(__builtin_thread_pointer(), std::memory_order_relaxed);
  __atomic_store_n(&idlewave_is_on_, 1, __ATOMIC_RELAXED);
}

const char* environment_text(const char* name) {
  const char* text = getenv(name);
  return text != nullptr && text[0] != '\0' ? text : nullptr;
}

bool environment_flag(const char* name) {
  const char* text = environment_text(name);
  return text != nullptr && strcmp(text, "0") != 0;
}

Settings read_settings() {
  if (environment_flag("IDLEWAVE_DISABLE")) return {};
  return {environment_text("IDLEWAVE_SESSION"), environment_text("IDLEWAVE_ENDPOINT"), environment_text("IDLEWAVE_KEY"),
          environment_flag("IDLEWAVE_ALLOW_INJECT")};
}

/// How many processes the launcher says that it has started for one program, the surest word first; 0: it says nothing.
/// mpirun may have started its daemons by srun.
int processes_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* text = environment_text(name);
    if (text != nullptr) return atoi(text);
  }
  return 0;
}

/// Of an MPI that does not understand its launcher every process is rank 0 of 1, and they would all be one rank.
bool is_one_of_many_alone(const Settings& settings, int size) {
  const int started = processes_by_launcher();
  if (size > 1 || started < 2) return false;
  char line[512];
  snprintf(line, sizeof line,
           "a rank is not watched: it is rank 0 of 1, while its launcher has started %d processes; each runs the whole "
           "program by itself, since its MPI does not understand this launcher. With srun: --mpi=pmix for Open MPI, "
           "--mpi=pmi2 for MPICH (srun --mpi=list); else the mpirun of the program's own MPI",
           started);
  session::note_trouble(settings.session, line);
  return true;
}

void attach_parts() {
  shm::Slot& slot = probe.membership.slot();
  probe.pid = getpid();
  probe.phases.attach(slot);
  probe.lane.attach(slot, probe.membership.ring(), probe.membership.ring_events(), probe.membership.header().clock);
  probe.gates.attach(slot, probe.lane, probe.phases, probe.membership.header(), probe.membership.traces());
  probe.partners.attach(slot.partners);
  probe.messages.attach(slot.calls);
  probe.threads.attach(probe.reporter, slot, probe.membership.thread_rings(), probe.membership.ring_events(),
                       probe.membership.header().clock);
}

/// The host's errno survives.
class KeptErrno {
 public:
  KeptErrno() : value_(errno) {}
  ~KeptErrno() { errno = value_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int value_;
};

bool start(int rank, int size) {
  const Settings settings = read_settings();
  if (settings.session == nullptr || rank < 0 || rank >= size) return false;
  const KeptErrno kept;
  take_precedence();
  if (is_one_of_many_alone(settings, size)) return false;
  if (!probe.membership.join(settings, rank, size)) return false;
  attach_parts();
  in_forked_children(switch_off);
  probe.lane.start();
  switch_on();
  return true;
}

/// Of the step that ends now.
void tell_partners() {
  const std::optional<std::uint32_t> cycle = probe.partners.end_step(probe.step);
  if (cycle && !probe.lane.partners(*cycle)) probe.partners.forget_told();
}

void stop() {
  const KeptErrno kept;
  switch_off();
  if (probe.pid != getpid()) return;  // A copy of the rank, made behind fork's back.
  // A step that breaks off before its first wait says nothing of the others.
  if (probe.partners.has_waited()) tell_partners();
  probe.lane.stop();
  probe.threads.stop();
  probe.membership.leave(probe.threads.may_write());
}

/// Which the lane has been told.
void note_step(wire::Step step) {
  const wire::Nanoseconds now = probe.lane.last();
  if (probe.step != wire::kNoStep) probe.step_before = now - probe.step_began;
  probe.step_began = now;
  probe.step = step;
  probe.membership.slot().step.store(step, std::memory_order_release);
}

void begin_step(wire::Step step) {
  if (probe.partners.is_used()) tell_partners();
  probe.lane.step(step);
  note_step(step);
}

/// A program may have none any more, or no repetition may be found in what it does now. One step may take longer than the
/// one before it, and that is no end of them: noise is drawn once in each.
bool steps_have_stopped() {
  constexpr wire::Nanoseconds kAtLeast = std::chrono::seconds(1), kOfTheFirst = std::chrono::seconds(10);
  constexpr int kStepsLong = 10;
  const wire::Nanoseconds patience =
      probe.step_before == wire::Nanoseconds{0} ? kOfTheFirst : std::max(kAtLeast, kStepsLong * probe.step_before);
  return probe.lane.now() - probe.step_began > patience;
}

/// What exit() runs last: after the program's own handlers, which may still have something to do.
[[gnu::destructor]] void stop_at_exit() {
  idlewave_stop();
  probe.threads.forget();
}

/// Of another thread than the one that the rank reports by.
template <class Say>
[[gnu::cold]] void in_thread(Say say) {
  LaneWriter* const lane = probe.threads.acquire();
  if (lane == nullptr) return;
  say(*lane);
  probe.threads.release();
}

double bandwidth_or_none(double bytes_per_second) { return bytes_per_second > 0 ? bytes_per_second : 0; }

}  // namespace

shm::Slot* own_slot() { return is_reporter() ? &probe.membership.slot() : nullptr; }

void tell_step_source(wire::StepSource source) {
  shm::Slot& slot = probe.membership.slot();
  slot.step_source.store(static_cast<std::uint32_t>(source), std::memory_order_relaxed);
  slot.revision.fetch_add(1, std::memory_order_release);
}

/// In a program without steps each piece of work takes the place of a step.
void obey_at_work() {
  if (probe.step == wire::kNoStep || steps_have_stopped()) return probe.gates.obey(probe.step);
  probe.gates.follow_work();
}

wire::Nanoseconds step_into(wire::Step step, wire::Phase phase) {
  begin_step(step);
  if (probe.gates.is_called()) [[unlikely]] {
    probe.gates.obey(step);
    return switch_to(phase);
  }
  probe.lane.switch_with_last(phase);
  return probe.lane.last();
}

/// It is said of the call before orders are looked at, which may hold the rank in phases of their own.
wire::Nanoseconds step_into(wire::Step step, wire::Phase phase, wire::CallPartners with) {
  begin_step(step);
  probe.lane.switch_with_last(phase, with);
  if (probe.gates.is_called()) [[unlikely]] {
    probe.gates.obey(step);
    return switch_to(phase);
  }
  return probe.lane.last();
}

void step_behind_last(wire::Step step) {
  if (probe.partners.is_used()) tell_partners();
  probe.lane.step_with_last(step);
  note_step(step);
  if (probe.gates.is_called()) [[unlikely]]
    probe.gates.obey(step);
}

}  // namespace idlewave::client

using idlewave::client::probe;
namespace client = idlewave::client;
namespace wire = idlewave::wire;

int idlewave_start(int rank, int size) {
  if (!probe.was_started.exchange(true)) client::start(rank, size);
  return idlewave_is_on_;
}

void idlewave_stop(void) {
  if (client::is_reporter()) client::stop();
}

int idlewave_define_phase(const char* name, int category) {
  return client::is_reporter() ? probe.phases.define(name, category) : category;
}

void idlewave_set_domain(int domain, int is_virtual, double core_bandwidth, double saturated_bandwidth) {
  if (!client::is_reporter()) return;
  idlewave::shm::Slot& slot = probe.membership.slot();
  slot.domain.store(domain < 0 ? wire::kNoDomain : domain, std::memory_order_relaxed);
  slot.domain_virtual.store(is_virtual != 0, std::memory_order_relaxed);
  slot.core_bandwidth.store(client::bandwidth_or_none(core_bandwidth), std::memory_order_relaxed);
  slot.saturated_bandwidth.store(client::bandwidth_or_none(saturated_bandwidth), std::memory_order_relaxed);
  slot.curve_points.store(0, std::memory_order_relaxed);
  slot.revision.fetch_add(1, std::memory_order_release);
}

void idlewave_domain_curve(const double* bandwidths, int points) {
  if (!client::is_reporter()) return;
  idlewave::shm::Slot& slot = probe.membership.slot();
  const auto kept = std::min(static_cast<std::uint32_t>(std::max(points, 0)), idlewave::shm::kCurvePoints);
  for (std::uint32_t i = 0; i < kept; ++i)
    slot.curve[i].store(client::bandwidth_or_none(bandwidths[i]), std::memory_order_relaxed);
  slot.curve_points.store(kept, std::memory_order_relaxed);
  slot.revision.fetch_add(1, std::memory_order_release);
}

void idlewave_domain_bytes(uint64_t total) {
  if (!client::is_reporter()) return;
  idlewave::shm::Slot& slot = probe.membership.slot();
  slot.domain_bytes.store(total, std::memory_order_relaxed);
  slot.domain_bytes_at.store(probe.lane.now().count(), std::memory_order_relaxed);
}

double idlewave_now(void) { return client::is_reporter() ? static_cast<double>(probe.lane.now().count()) * 1e-9 : 0; }

void idlewave_begin_(int phase) {
  if (!client::is_reporter())
    return client::in_thread([phase](auto& lane) { lane.begin(probe.phases.checked(phase)); });
  const wire::Phase checked = probe.phases.checked(phase);
  client::pass_gates(checked);
  probe.lane.begin(checked);
}

void idlewave_end_(void) {
  if (!client::is_reporter()) return client::in_thread([](auto& lane) { lane.end(); });
  probe.lane.end();
}

void idlewave_switch_(int phase) {
  if (!client::is_reporter())
    return client::in_thread([phase](auto& lane) { lane.switch_to(probe.phases.checked(phase)); });
  client::switch_to(probe.phases.checked(phase));
}

void idlewave_step_(int64_t step) {
  if (!client::is_reporter() || step < 0) return;
  client::begin_step(step);
  if (probe.gates.is_called()) [[unlikely]]
    probe.gates.obey(step);
}

void idlewave_traffic_(uint64_t bytes) {
  if (client::is_reporter()) probe.lane.traffic(bytes);
}

void idlewave_threads_(int active) {
  if (client::is_reporter()) probe.lane.threads(active > 0 ? static_cast<std::uint64_t>(active) : 0);
}

void idlewave_partners_(int pattern, const int* from, int sources, const int* to, int targets, int flags) {
  if (!client::is_reporter()) return;
  if (!probe.partners.wait(pattern))
    probe.partners.define(pattern, {from, sources > 0 ? static_cast<std::uint32_t>(sources) : 0},
                          {to, targets > 0 ? static_cast<std::uint32_t>(targets) : 0},
                          static_cast<std::uint32_t>(flags));
}

void idlewave_message_(int receiver, uint64_t bytes) {
  if (client::is_reporter() && receiver >= 0)
    probe.messages.count_message(receiver, static_cast<std::int64_t>(std::min(bytes, wire::kMaxEventValue)));
}
