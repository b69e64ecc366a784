#pragma once
// The rank that this process reports as, for the calls of idlewave/probe.h and for those of our libraries that count beside
// them. What stands in the way of every call is inline, so that an MPI call pays for two stamps and not for ways to them.

#include <sys/types.h>

#include <atomic>

#include "probe/client/call_counter.h"
#include "probe/client/gate_keeper.h"
#include "probe/client/lane_writer.h"
#include "probe/client/membership.h"
#include "probe/client/partner_teller.h"
#include "probe/client/phase_table.h"
#include "probe/client/thread_lanes.h"
#include "probe/shm/layout.h"

namespace idlewave::client {

/// Only the thread that started it uses it, once `reporter` names that thread; but for `threads`.
struct Probe {
  std::atomic<void*> reporter{nullptr};  ///< Thread pointer; null while off.
  PhaseTable phases;
  LaneWriter lane;
  GateKeeper gates;
  std::atomic<bool> was_started{false};
  pid_t pid = 0;
  wire::Step step = wire::kNoStep;
  wire::Nanoseconds step_began{}, step_before{};  ///< When this step began, and how long the one before it was.
  Membership membership;
  PartnerTeller partners;
  CallCounter messages;
  ThreadLanes threads;  ///< Of the others.
};
[[gnu::visibility("hidden")]] extern constinit Probe probe;

inline bool is_reporter() { return probe.reporter.load(std::memory_order_relaxed) == __builtin_thread_pointer(); }

/// Where the rank's own numbers stand; null while it does not report. Gone when it stops.
shm::Slot* own_slot();

/// Of this rank, if it is not the program's own word. On the thread that reports.
void tell_step_source(wire::StepSource source);

/// Work begins while orders wait to be looked at.
void obey_at_work();

inline void pass_gates(wire::Phase phase) {
  if (probe.phases.is_work(phase) && probe.gates.is_called()) [[unlikely]]
    obey_at_work();
}

/// As idlewave_switch_, on the thread that reports, with a phase that is defined; when that was.
[[gnu::always_inline]] inline wire::Nanoseconds switch_to(wire::Phase phase) {
  pass_gates(phase);
  return probe.lane.switch_to(phase);
}

/// The same, behind a call with those.
[[gnu::always_inline]] inline wire::Nanoseconds switch_to(wire::Phase phase, wire::CallPartners with) {
  pass_gates(phase);
  return probe.lane.switch_to(phase, with);
}

/// As idlewave_step_ with switch_to behind it, at one moment: a stamp less to read.
wire::Nanoseconds step_into(wire::Step step, wire::Phase phase);
/// The same, behind a call with those.
[[gnu::cold]] wire::Nanoseconds step_into(wire::Step step, wire::Phase phase, wire::CallPartners with);

/// A step that has begun with the latest event, as is known only now.
void step_behind_last(wire::Step step);

}  // namespace idlewave::client
