#pragma once
// What the tests of the timeline are made of: rosters and events in few words, random lives of ranks, and a slow,
// obvious oracle.

#include <array>
#include <chrono>
#include <cstdlib>
#include <random>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::timeline {

using wire::Event;
using wire::EventKind;
using wire::Phase;

constexpr Nanoseconds us(std::int64_t n) { return std::chrono::microseconds(n); }
constexpr Nanoseconds ms(std::int64_t n) { return std::chrono::milliseconds(n); }
inline const wire::LaneId rank_lane(Rank rank) { return {wire::LaneId::Kind::kRank, rank}; }
inline const wire::LaneId domain_lane(wire::DomainId id) { return {wire::LaneId::Kind::kDomain, id}; }

inline Event start(Nanoseconds at) { return {at, 0, EventKind::kStart, Phase::kNone}; }
inline Event enter(Nanoseconds at, Phase phase) { return {at, 0, EventKind::kSwitch, phase}; }
inline Event step(Nanoseconds at, std::uint64_t number, Phase phase = Phase::kNone) {
  return {at, number, EventKind::kStep, phase};
}
inline Event dropped(Nanoseconds at, std::uint64_t count, Phase phase) {
  return {at, count, EventKind::kDropped, phase};
}
inline Event delay_begin(Nanoseconds at, std::uint64_t id) { return {at, id, EventKind::kDelayBegin, Phase::kDelay}; }
inline Event delay_end(Nanoseconds at, std::uint64_t id) { return {at, id, EventKind::kDelayEnd, Phase::kNone}; }
inline Event bandwidth(Nanoseconds at, std::uint64_t bytes) { return {at, bytes, EventKind::kBandwidth, Phase::kNone}; }
inline Event stop(Nanoseconds at) { return {at, 0, EventKind::kStop, Phase::kNone}; }
inline Event lost(Nanoseconds at) { return {at, 0, EventKind::kLost, Phase::kNone}; }

/// Ranks [first, last) of `world`, ten on a domain.
inline wire::Roster roster(Rank first, Rank last, Rank world) {
  wire::Roster roster;
  roster.world_size = world;
  for (Rank rank = first; rank < last; ++rank) {
    roster.ranks.push_back({rank, 1000 + rank, rank / 10});
    if (roster.domains.empty() || roster.domains.back().id != rank / 10)
      roster.domains.push_back(
          {rank / 10, "socket " + std::to_string(rank / 10), 1e10, 5e10, wire::BandwidthSource::kVirtual, ""});
  }
  return roster;
}
inline wire::Roster roster(Rank ranks) { return roster(0, ranks, ranks); }

/// A timeline of one node "n" with `ranks` ranks and the given events of rank 0.
inline Timeline timeline_of(std::vector<Event> events, Nanoseconds up_to, Rank ranks = 1) {
  Timeline timeline;
  timeline.apply_roster("n", roster(ranks));
  timeline.append("n", rank_lane(0), events);
  timeline.advance("n", up_to);
  return timeline;
}

/// A stretch of time in one category; what no stretch covers is not known.
struct Stretch {
  Nanoseconds from{};
  Nanoseconds to{};
  Category category = Category::kOther;
};

inline Category category_by_hand(Phase phase) {
  if (phase == Phase::kCompute) return Category::kCompute;
  if (phase == Phase::kWait || phase == Phase::kCommunicate) return Category::kWait;
  if (phase == Phase::kDelay || phase == Phase::kNoise) return Category::kDelay;
  return Category::kOther;
}

/// What one rank's events say, stretch by stretch.
inline std::vector<Stretch> stretches_of(const std::vector<Event>& events, Nanoseconds up_to) {
  std::vector<Stretch> all;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool last = i + 1 == events.size();
    if (events[i].kind == EventKind::kStop || events[i].kind == EventKind::kLost) continue;
    if (!last && events[i + 1].kind == EventKind::kDropped) continue;
    all.push_back({events[i].time, last ? std::max(up_to, events[i].time) : events[i + 1].time,
                   category_by_hand(events[i].phase)});
  }
  return all;
}

inline Nanoseconds overlap(const Stretch& stretch, Nanoseconds from, Nanoseconds to) {
  return std::max(Nanoseconds{0}, std::min(stretch.to, to) - std::max(stretch.from, from));
}

inline std::array<Nanoseconds, kCategories> times_by_hand(const std::vector<Stretch>& stretches, Nanoseconds from,
                                                          Nanoseconds to) {
  std::array<Nanoseconds, kCategories> times{};
  for (const Stretch& stretch : stretches) times[std::size_t(stretch.category)] += overlap(stretch, from, to);
  return times;
}

/// A rank's life with phases of very different lengths, steps, drops, and sometimes a stop and a new start. Begins with
/// kStart.
inline std::vector<Event> random_life(std::mt19937_64& random, std::size_t count, Nanoseconds begin, double mean_ns) {
  constexpr std::array kPhases = {Phase::kNone,        Phase::kCompute, Phase::kWait,
                                  Phase::kCommunicate, Phase::kDelay,   Phase::kNoise};
  std::vector<Event> events{start(begin)};
  std::exponential_distribution<double> length(1 / mean_ns);
  const auto one_in = [&](std::uint64_t n) { return random() % n == 0; };
  std::uint64_t steps = 0;
  while (events.size() < count) {
    const Nanoseconds at =
        events.back().time + Nanoseconds(std::int64_t(length(random) * (one_in(50) ? 100 : 1)) * (one_in(20) ? 0 : 1));
    const Phase phase = kPhases[random() % kPhases.size()];
    if (events.back().kind == EventKind::kStop)
      events.push_back(start(at));
    else if (one_in(200))
      events.push_back(stop(at));
    else if (one_in(40))
      events.push_back(dropped(at, 3, phase));
    else if (one_in(6))
      events.push_back(step(at, steps++, events.back().phase));
    else
      events.push_back(enter(at, phase));
  }
  return events;
}

}  // namespace idlewave::timeline
