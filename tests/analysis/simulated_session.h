#pragma once
// A scenario as a session: simulated, told by the emitter in frames, read by ingest; and scenarios of every kind.

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "monitor/ingest/ingest.h"
#include "workloads/sim/emitter/emitter.h"
#include "workloads/sim/simulator.h"

namespace idlewave::test {

/// Whether ranks say whom they wait for, or leave it to be inferred; or don't know whether their sends wait.
enum class Says { kNothing, kPartners, kPartnersPerhaps };

/// What a simulated program's node sends, as a monitor receives it.
struct SimulatedFrame {
  wire::Nanoseconds at{};
  std::vector<std::byte> bytes;
};

class SimulatedFrames final : public sim::emitter::Stream {
 public:
  /// `silent`: ranks that say nothing, whatever the others do.
  explicit SimulatedFrames(const support::Scenario& scenario, Says says = Says::kNothing,
                           std::vector<wire::Rank> silent = {})
      : says_(says), silent_(std::move(silent)) {
    const auto prepared = sim::prepare(scenario, {});
    const auto model = sim::model_of(scenario);
    sim::emitter::Emitter emitter(
        scenario, *model, says == Says::kNothing ? sim::core::WaitTable(model->ranks) : sim::waits_of(scenario, *model),
        "simulated", *this);
    const auto played = sim::play(*prepared, emitter, nullptr);
    emitter.finish(played->until);
    add(wire::End{}, frames_.back().at);
  }

  const std::vector<SimulatedFrame>& all() const { return frames_; }

 private:
  void send(wire::Roster roster) override {
    for (const wire::Rank rank : silent_) roster.ranks[std::size_t(rank)].cycle = 0;
    if (says_ == Says::kPartnersPerhaps)
      for (wire::WaitPattern& pattern : roster.patterns) forget_protocol(pattern);
    add(std::move(roster), {});
  }
  void send(wire::Events events) override {
    const wire::Nanoseconds at = events.up_to;
    add(std::move(events), at);
  }
  /// As the library for unmodified programs says it where it makes a difference.
  static void forget_protocol(wire::WaitPattern& pattern) {
    pattern.uncertain = !std::ranges::includes(pattern.from, pattern.to);
    pattern.rendezvous = pattern.rendezvous && !pattern.uncertain;
  }
  template <class Body>
  void add(Body body, wire::Nanoseconds at) {
    frames_.push_back({at, wire::encode({"session", sim::emitter::kNode, frames_.size() + 1,
                                         decltype(wire::Frame::body)(std::move(body))})});
  }

  Says says_;
  std::vector<wire::Rank> silent_;
  std::vector<SimulatedFrame> frames_;
};

/// A scenario's session, read to its end.
class SimulatedSession {
 public:
  explicit SimulatedSession(const support::Scenario& scenario, Says says = Says::kNothing,
                            std::vector<wire::Rank> silent = {}) {
    const SimulatedFrames frames(scenario, says, std::move(silent));
    for (const SimulatedFrame& frame : frames.all())
      ingest_.accept(wire::decode_in_place(frame.bytes), frame.at, wire::Direction::kReceived);
  }

  const timeline::Timeline& timeline() const { return timeline_; }

 private:
  timeline::Timeline timeline_;
  ingest::Ingest ingest_{timeline_};
};

/// Bulk-synchronous programs that nobody delays: memory-bound above and below the saturation point, or core-bound; near
/// and far partners, rings and chains, with and without time for messages.
class RandomQuietScenarios {
 public:
  explicit RandomQuietScenarios(unsigned seed) : random_(seed) {}

  /// `noise`: mean of the exponential, in steps. `seconds`: about how long it runs.
  support::Scenario next(double noise, double seconds) {
    support::Scenario scenario;
    const int each = whole(4, 12);
    scenario.machine = {.ranks = each * whole(2, 5), .ranks_per_domain = each};
    const double saturation = real(2, each + 3);
    scenario.machine.core_bandwidth = 10e9;
    scenario.machine.domain_bandwidth = saturation * 10e9;
    const double step = real(0.005, 0.05);
    const bool memory = whole(0, 2) > 0;
    scenario.program = {.steps = wire::Step(seconds / step),
                        .kernel = memory ? support::Kernel::kMemory : support::Kernel::kCore};
    scenario.program.time = nanoseconds(step);
    scenario.program.volume = std::uint64_t(step * 10e9 * std::min(1.0, saturation / each));
    static const std::vector<std::vector<wire::Rank>> kDistances = {{-1, 1}, {-1, 1}, {1}, {-2, -1, 1, 2}, {1, -1, -2}};
    scenario.communication.distances = kDistances[std::size_t(whole(0, int(kDistances.size()) - 1))];
    scenario.communication.topology = whole(0, 1) ? support::Topology::kRing : support::Topology::kChain;
    scenario.communication.protocol = whole(0, 2) ? support::Protocol::kEager : support::Protocol::kRendezvous;
    if (whole(0, 1)) scenario.communication.time = nanoseconds(step * real(0, 0.3));
    if (noise > 0) scenario.noise.distribution = support::ExponentialNoise{nanoseconds(noise * step)};
    scenario.noise.seed = random_();
    return scenario;
  }
  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(random_); }
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }

 private:
  static wire::Nanoseconds nanoseconds(double seconds) { return wire::Nanoseconds(std::int64_t(seconds * 1e9)); }

  std::mt19937 random_;
};

}  // namespace idlewave::test
