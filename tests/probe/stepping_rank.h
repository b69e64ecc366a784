#pragma once
// Ranks that obey the orders of their agent, which is the test.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "probe/client/gate_keeper.h"
#include "probe/wire/frame.h"
#include "tests/probe/node.h"

namespace idlewave::client {

using test::Segment;
using wire::Event;

inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr auto kExponential = static_cast<std::uint32_t>(wire::NoiseKind::kExponential);
inline constexpr auto kPeriodic = static_cast<std::uint32_t>(wire::NoiseKind::kPeriodic);

/// A rank that makes steps, on a segment of its own.
class SteppingRank {
 public:
  explicit SteppingRank(wire::Rank rank = 0) : segment_(1, 1 << 14) {
    slot().rank = rank;
    slot().step = wire::kNoStep;
    lane_.attach(slot(), segment_.ring(), segment_.header().ring_events, segment_.header().clock);
    phases_.attach(slot());
    gates_.attach(slot(), lane_, phases_, segment_.header(), segment_.traces());
  }
  shm::Slot& slot() const { return segment_.slot(); }
  void is_drained_by(pid_t agent) const { segment_.be_drained_by(agent); }
  void is_swept() const { segment_.header().sweeps.fetch_add(1); }

  void begin_step(wire::Step step) {
    if (gates_.is_called()) gates_.obey(step);
  }
  void begin_steps(wire::Step from, wire::Step to) {
    for (wire::Step step = from; step < to; ++step) begin_step(step);
  }
  /// In a program without steps, of an agent that looks after it.
  void begin_work() {
    is_swept();
    begin_step(wire::kNoStep);
    switch_to(wire::Phase::kCompute);
  }
  void begin_work_in_step() {
    if (gates_.is_called()) gates_.follow_work();
    switch_to(wire::Phase::kCompute);
  }
  void wait() { switch_to(wire::Phase::kWait); }
  void switch_to(wire::Phase phase) {
    if (lane_.current() == wire::Phase::kNone)
      lane_.begin(phase);
    else
      lane_.switch_to(phase);
  }
  void tell_step(wire::Step step) { lane_.step(step); }
  std::int64_t now() const { return lane_.now().count(); }
  shm::TraceRoom& traces() const { return segment_.traces(); }

  bool is_called() const { return gates_.is_called(); }
  std::vector<Event> told() { return segment_.drain(); }

 private:
  Segment segment_;
  LaneWriter lane_;
  PhaseTable phases_;
  GateKeeper gates_;
};

inline std::vector<std::int64_t> hold_lengths(const std::vector<Event>& events) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i + 1 < events.size(); i += 2) out.push_back((events[i + 1].time - events[i].time).count());
  return out;
}

/// A rank in a thread of its own that is held by what was ordered before.
class HeldRank {
 public:
  explicit HeldRank(SteppingRank& rank)
      : thread_([&rank, this] {
          rank.begin_step(0);
          free_.store(true);
        }) {}
  ~HeldRank() { thread_.join(); }
  bool is_free() const { return free_.load(); }

 private:
  std::atomic<bool> free_{false};
  std::thread thread_;
};

inline void wait_until_held(const SteppingRank& rank) {
  while ((rank.slot().delay.armed.load() & shm::kStateBits) != shm::kHeld) std::this_thread::yield();
}

inline constexpr std::int64_t kHour = 3600 * std::int64_t{1'000} * kMs;

}  // namespace idlewave::client
