#include "workloads/sim/emitter/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "probe/wire/codec.h"
#include "workloads/sim/core/bandwidth.h"

namespace idlewave::sim::emitter {
namespace {

using wire::Event;
using wire::EventKind;
using wire::LaneBatch;
using wire::LaneId;

wire::Nanoseconds to_clock(double seconds) { return wire::Nanoseconds(std::llround(seconds * 1e9)); }

/// Of a grid of moments: the last one up to `time`, where nothing happens for longer than anybody looks on; else `from`.
double behind_a_pause(double from, double span, double time) {
  constexpr double kLongestPause = 600;  // s
  return time - from > kLongestPause ? from + std::floor((time - from) / span) * span : from;
}

bool is_held(Phase phase) { return phase == Phase::kDelay || phase == Phase::kNoise; }

std::vector<double> bandwidths(const support::Scenario& scenario, const Model& model) {
  if (model.core_bound) return {};
  std::vector<double> b{0};
  for (std::size_t n = 1; n < model.seconds.size(); ++n)
    b.push_back(double(n) * double(scenario.program.volume) / model.seconds[n]);
  return b;
}

/// Of a domain whose scenario says more than two figures.
std::vector<double> curve_of(const support::Scenario& scenario, const Model& model) {
  std::vector<double> curve;
  if (model.core_bound || scenario.machine.curve.empty()) return curve;
  const auto points = std::min(std::size_t(model.ranks_per_domain), wire::kMaxCurve);
  for (std::size_t active = 1; active <= points; ++active) curve.push_back(core::bandwidth(scenario.machine, active));
  return curve;
}

std::size_t entries_of(const core::WaitTable& waits) {
  std::size_t entries = 0;
  for (const core::Wait& wait : waits.waits()) entries += wait.from.size() + wait.to.size() + 2;
  for (const auto& cycle : waits.cycles())
    for (const auto& step : cycle) entries += step.size() + 2;
  return entries;
}

wire::Roster roster_of(const support::Scenario& scenario, const Model& model, const core::WaitTable& waits,
                       const std::string& program) {
  wire::Roster roster;
  roster.world_size = model.ranks;
  roster.unix_time_ns =
      std::chrono::duration_cast<wire::Nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  roster.began = wire::Nanoseconds(0);
  roster.machine = fmt::format("simulated: {} ranks on {} contention domains", model.ranks, model.domains());
  roster.program = program;
  const auto& curve = scenario.machine.curve;
  const bool bound = !model.core_bound;
  const std::vector<double> said = curve_of(scenario, model);
  for (Rank rank = 0; rank < model.ranks; ++rank) roster.ranks.push_back({rank, 0, rank / model.ranks_per_domain, 0});
  for (Rank domain = 0; domain < model.domains(); ++domain) {
    roster.domains.push_back({.id = domain,
                              .label = fmt::format("virtual socket {}", domain),
                              .core_bandwidth = !bound          ? 0
                                                : curve.empty() ? scenario.machine.core_bandwidth
                                                                : curve.front(),
                              .saturated_bandwidth = !bound          ? 0
                                                     : curve.empty() ? scenario.machine.domain_bandwidth
                                                                     : *std::ranges::max_element(curve),
                              .source = bound ? wire::BandwidthSource::kVirtual : wire::BandwidthSource::kNone,
                              .note = bound ? "" : "core-bound",
                              .curve = said});
  }
  say_waits(waits, roster);
  return roster;
}

}  // namespace

void say_waits(const core::WaitTable& waits, wire::Roster& roster) {
  const bool fits = waits.waits().size() <= wire::kMaxPatterns && waits.cycles().size() <= wire::kMaxPatterns &&
                    entries_of(waits) <= wire::kMaxPatternEntries;
  if (!fits) return;
  for (const core::Wait& wait : waits.waits())
    roster.patterns.push_back({wait.rendezvous, wait.collective, wait.from, wait.to});
  for (const auto& cycle : waits.cycles()) roster.cycles.push_back({cycle});
  for (wire::RankInfo& info : roster.ranks) info.cycle = waits.follows()[std::size_t(info.rank)];
}

wire::Status check_session(const support::Scenario& scenario, const Model& model, const core::WaitTable& waits) {
  constexpr std::size_t kNames = 4096;  // of program and session
  if (model.ranks > wire::kMaxRanks)
    return wire::Error{
        fmt::format("a session holds at most {} ranks, and the scenario has {}", wire::kMaxRanks, model.ranks)};
  const std::size_t bytes = wire::encode({"", kNode, 1, roster_of(scenario, model, waits, "")}).size();
  if (bytes + kNames <= wire::kMaxFrameBytes) return wire::ok();
  return wire::Error{
      fmt::format("{} ranks on {} domains are too many for a session: take fewer ranks, or more on a domain",
                  model.ranks, model.domains())};
}

Emitter::Emitter(const support::Scenario& scenario, const Model& model, const core::WaitTable& waits,
                 const std::string& program, Stream& stream)
    : stream_(stream),
      ranks_per_domain_(model.ranks_per_domain),
      bandwidth_(bandwidths(scenario, model)),
      ranks_(std::size_t(model.ranks)),
      domains_(std::size_t(model.domains())) {
  stream_.send(roster_of(scenario, model, waits, program));
  for (Rank rank = 0; rank < model.ranks; ++rank) add(rank, 0, EventKind::kStart, Phase::kNone);
  if (bandwidth_.empty()) return;
  for (DomainState& domain : domains_) domain.events.push_back({{}, 0, EventKind::kStart, Phase::kNone});
}

void Emitter::step_begins(Rank rank, Step step, double time) {
  go_to(time);
  add(rank, time, EventKind::kStep, ranks_[std::size_t(rank)].phase, std::uint64_t(step));
}

/// Delays and noise are told as those of a real rank are: as something that holds it, by whose order. Of two delays,
/// one behind the other, each has an end: the work would go on if there were not the second.
void Emitter::enters(Rank rank, Step, Phase phase, double time) {
  go_to(time);
  RankState& state = ranks_[std::size_t(rank)];
  const Phase before = std::exchange(state.phase, phase);
  count_active(rank, before, phase, time);
  if (is_held(before)) add(rank, time, EventKind::kDelayEnd, is_held(phase) ? Phase::kCompute : phase, state.held_by);
  if (is_held(phase)) {
    state.held_by = std::exchange(state.next_holder, 0);
    add(rank, time, EventKind::kDelayBegin, phase, state.held_by);
  } else if (phase == Phase::kNone) {
    add(rank, time, EventKind::kStop, phase);
  } else if (!is_held(before)) {
    add(rank, time, EventKind::kSwitch, phase);
  }
}

void Emitter::count_active(Rank rank, Phase before, Phase now, double time) {
  if (bandwidth_.empty() || (before == Phase::kCompute) == (now == Phase::kCompute)) return;
  DomainState& domain = domains_[std::size_t(rank / ranks_per_domain_)];
  move_bytes(domain, time);
  domain.active += now == Phase::kCompute ? 1 : -1;
}

void Emitter::move_bytes(DomainState& domain, double time) {
  domain.bytes += bandwidth_[std::size_t(domain.active)] * (time - domain.since);
  domain.since = time;
}

void Emitter::go_to(double time) {
  while (next_frame_ <= time) {
    flush(next_frame_);
    next_frame_ = std::max(next_frame_, behind_a_pause(next_frame_, kFrameSpan, time));
  }
  if (waiting_ >= kFrameEvents) flush(time);
  sample_until(time);
}

void Emitter::sample_until(double time) {
  while (next_sample_ <= time) {
    sample_bandwidth(next_sample_);
    // No further than an event can say how many bytes were moved.
    const double fastest = bandwidth_.empty() ? 0 : std::ranges::max(bandwidth_);
    const double end = std::min(time, next_sample_ + double(wire::kMaxEventValue / 2) / std::max(fastest, 1.0));
    next_sample_ = std::max(next_sample_ + kBandwidthSpan, behind_a_pause(next_sample_, kBandwidthSpan, end));
  }
}

void Emitter::sample_bandwidth(double time) {
  if (bandwidth_.empty()) return;
  for (DomainState& domain : domains_) {
    move_bytes(domain, time);
    const auto bytes = std::uint64_t(std::llround(std::exchange(domain.bytes, 0)));
    domain.events.push_back(
        {to_clock(time), std::min(bytes, wire::kMaxEventValue), EventKind::kBandwidth, Phase::kNone});
  }
  waiting_ += domains_.size();
}

void Emitter::add(Rank rank, double time, EventKind kind, Phase phase, std::uint64_t value) {
  ranks_[std::size_t(rank)].events.push_back({to_clock(time), value, kind, phase});
  ++waiting_;
}

void Emitter::flush(double time) {
  next_frame_ = std::max(next_frame_, time + kFrameSpan);
  sample_until(time);
  send_events(to_clock(time));
}

void Emitter::finish(double time) {
  sample_until(time);
  if (to_clock(time) > to_clock(next_sample_ - kBandwidthSpan)) sample_bandwidth(time);
  send_events(to_clock(time) + wire::Nanoseconds(1));
}

void Emitter::send_events(wire::Nanoseconds up_to) {
  std::vector<LaneBatch> batches;
  const auto take = [&](LaneId::Kind kind, std::size_t index, const std::vector<Event>& events) {
    if (!events.empty()) batches.push_back({{kind, std::int32_t(index)}, events});
  };
  for (std::size_t i = 0; i < ranks_.size(); ++i) take(LaneId::Kind::kRank, i, ranks_[i].events);
  for (std::size_t i = 0; i < domains_.size(); ++i) take(LaneId::Kind::kDomain, i, domains_[i].events);
  wire::Events frame{.up_to = up_to, .blob = {}};
  wire::encode_events(batches, frame.blob);
  stream_.send(std::move(frame));
  for (RankState& rank : ranks_) rank.events.clear();
  for (DomainState& domain : domains_) domain.events.clear();
  waiting_ = 0;
}

}  // namespace idlewave::sim::emitter
