#pragma once
// What the ranks of a simulation do, as the frames of a node: to a monitor it is one more source.

#include <string>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/result.h"
#include "workloads/sim/core/model.h"
#include "workloads/sim/core/recorder.h"
#include "workloads/sim/core/wait_table.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::emitter {

using core::Model;
using core::Recorder;
using wire::Phase;
using wire::Rank;
using wire::Step;

/// Where frames go: a file, or monitors.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void send(wire::Roster roster) = 0;
  virtual void send(wire::Events events) = 0;
};

inline constexpr const char* kNode = "simulator";

/// Error: more ranks or domains than one roster can name.
wire::Status check_session(const support::Scenario& scenario, const Model& model, const core::WaitTable& waits);

/// Says whom ranks wait for in a roster that has its ranks. More than fits into one is not said.
void say_waits(const core::WaitTable& waits, wire::Roster& roster);

/// Takes the calls of the event engine, which come in the order of time. A frame is sent for every `kFrameSpan` of
/// simulated time, or for `kFrameEvents` where that is less. One thread.
class Emitter final : public Recorder {
 public:
  /// Seconds; the second between two bandwidth samples of a domain. Longer where nothing happens for ten minutes.
  static constexpr double kFrameSpan = 0.1, kBandwidthSpan = 0.2;
  /// Of at most 24 bytes each, about what one takes at its worst as the only one of its lane: below
  /// wire::kMaxFrameBytes.
  static constexpr std::size_t kFrameEvents = 500'000;

  /// Sends the roster. `stream` outlives the emitter. `model` is that of `scenario`. The roster says whom ranks wait for,
  /// as `waits` has it; more than fits into one is not said.
  Emitter(const support::Scenario& scenario, const Model& model, const core::WaitTable& waits,
          const std::string& program, Stream& stream);

  void step_begins(Rank rank, Step step, double time) override;
  void enters(Rank rank, Step step, Phase phase, double time) override;
  void held_by(Rank rank, wire::CommandId command) override { ranks_[std::size_t(rank)].next_holder = command; }

  /// Nothing before `time` will come any more: sends what there is. Times may not decrease.
  void flush(double time);
  /// Nothing will come any more: sends what there is, with what the domains have moved since their last samples.
  void finish(double time);

 private:
  struct RankState {
    Phase phase = Phase::kNone;
    wire::CommandId held_by = 0;
    wire::CommandId next_holder = 0;
    std::vector<wire::Event> events;
  };
  struct DomainState {
    int active = 0;
    double bytes = 0;  ///< Moved since the last sample.
    double since = 0;  ///< Up to when `bytes` counts.
    std::vector<wire::Event> events;
  };

  void go_to(double time);
  void sample_until(double time);
  void sample_bandwidth(double time);
  void send_events(wire::Nanoseconds up_to);
  void move_bytes(DomainState& domain, double time);
  void count_active(Rank rank, Phase before, Phase now, double time);
  void add(Rank rank, double time, wire::EventKind kind, Phase phase, std::uint64_t value = 0);

  Stream& stream_;
  Rank ranks_per_domain_;
  std::vector<double> bandwidth_;  ///< [n]: b(n), bytes/s; empty if core-bound.
  std::vector<RankState> ranks_;
  std::vector<DomainState> domains_;
  double next_frame_ = kFrameSpan;
  double next_sample_ = kBandwidthSpan;
  std::size_t waiting_ = 0;  ///< Events to be sent.
};

}  // namespace idlewave::sim::emitter
