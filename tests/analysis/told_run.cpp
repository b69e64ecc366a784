#include "tests/analysis/told_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/analysis/said_waits.h"

namespace idlewave::test {

using tests::ExactProgram;
using tests::ExactRun;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;
using wire::Rank;

double end_of(const ExactRun& run, Rank rank, int step) {
  const auto& starts = run.step_start[std::size_t(rank)];
  const auto next = std::size_t(step) + 1;
  return next < starts.size() ? starts[next] : run.finish[std::size_t(rank)];
}
namespace {

wire::Event event(double seconds, EventKind kind, Phase phase, std::uint64_t value = 0) {
  return {Nanoseconds(std::llround(seconds * 1e9)), value, kind, phase};
}

double held_by_delays(const ExactProgram& program, Rank rank, int step) {
  double held = 0;
  for (const support::Delay& delay : program.delays)
    if (delay.rank == rank && delay.step == step) held += double(delay.duration.count()) * 1e-9;
  return held;
}
wire::Roster roster_of(const ExactProgram& program, bool says_partners) {
  wire::Roster roster;
  roster.world_size = program.ranks;
  for (Rank rank = 0; rank < program.ranks; ++rank)
    roster.ranks.push_back({rank, 1000 + rank, rank / program.ranks_per_domain});
  if (says_partners) say_waits(program.communication, roster);
  for (int domain = 0; domain <= (program.ranks - 1) / program.ranks_per_domain; ++domain) {
    wire::DomainInfo info;
    info.id = domain;
    info.label = fmt::format("socket {}", domain);
    if (program.bandwidth) {
      info.core_bandwidth = program.bandwidth(1);
      info.saturated_bandwidth = program.bandwidth(1000);
    }
    roster.domains.push_back(info);
  }
  return roster;
}

/// What the probe of one rank would say.
std::vector<wire::Event> events_of(const ExactProgram& program, const ExactRun& run, Rank rank, Holds holds) {
  std::vector<wire::Event> events{event(0, EventKind::kStart, Phase::kNone)};
  for (int step = 0; step < program.steps; ++step) {
    const double begin = run.step_start[std::size_t(rank)][std::size_t(step)], next = end_of(run, rank, step);
    const auto& work = run.work[std::size_t(rank)][std::size_t(step)];
    const Phase before = step > 0 ? Phase::kWait : Phase::kNone;
    events.push_back(event(begin, EventKind::kStep, before, std::uint64_t(step)));
    const double held = holds != Holds::kUnannounced ? held_by_delays(program, rank, step) : 0;
    if (held > 0 && holds == Holds::kDelaysByPhase) {
      events.push_back(event(begin, EventKind::kSwitch, Phase::kDelay));
    } else if (held > 0) {
      events.push_back(event(begin, EventKind::kDelayBegin, Phase::kDelay, 7));
      events.push_back(event(begin + held, EventKind::kDelayEnd, before, 7));
    }
    events.push_back(event(begin + held, step > 0 ? EventKind::kSwitch : EventKind::kEnter, Phase::kCompute));
    if (holds == Holds::kAnnounced && work.noise > 0)
      events.push_back(event(work.to, EventKind::kSwitch, Phase::kNoise));
    events.push_back(event(std::min(work.to + work.noise, next), EventKind::kSwitch, Phase::kWait));
  }
  events.push_back(event(run.finish[std::size_t(rank)], EventKind::kStop, Phase::kNone));
  return events;
}

}  // namespace

timeline::Timeline timeline_of(const ExactProgram& program, const ExactRun& run, Told told) {
  timeline::Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n1", roster_of(program, told.partners)));
  Nanoseconds last{};
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    const auto events = events_of(program, run, rank, told.holds);
    last = std::max(last, events.back().time);
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  timeline.advance("n1", last);
  return timeline;
}

}  // namespace idlewave::test
