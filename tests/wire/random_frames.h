#pragma once
// Random but valid things to put on the wire. A test prints its seed: `SCOPED_TRACE(seed)` shows which input failed.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"

namespace idlewave::wire {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits(int count) { return count == 0 ? 0 : engine_() >> (64 - count); }
  /// All magnitudes are equally likely, so that short and long encodings are.
  std::uint64_t any(int most_bits) { return bits(static_cast<int>(below(static_cast<std::uint64_t>(most_bits) + 1))); }
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  bool once_in(std::uint64_t n) { return below(n) == 0; }

  std::string text(std::size_t most) {
    std::string made(below(most + 1), ' ');
    for (char& c : made) c = static_cast<char>(bits(8));
    return made;
  }
  Nanoseconds time() { return Nanoseconds(static_cast<std::int64_t>(any(64))); }

 private:
  std::mt19937_64 engine_;
};

inline Event random_event(Random& random, std::int64_t time) {
  return {Nanoseconds(time), random.any(48), static_cast<EventKind>(random.below(16)),
          static_cast<Phase>(random.below(kPhaseLimit))};
}

struct OwnedBatch {
  LaneId lane;
  std::vector<Event> events;
  friend bool operator==(const OwnedBatch&, const OwnedBatch&) = default;
};

inline OwnedBatch random_lane(Random& random, std::size_t most_events) {
  OwnedBatch batch{
      {random.once_in(4) ? LaneId::Kind::kDomain : LaneId::Kind::kRank, static_cast<std::int32_t>(random.any(31))}, {}};
  const std::uint64_t count = random.below(most_events + 1);
  auto time = random.time().count();
  for (std::uint64_t i = 0; i < count; ++i) {
    batch.events.push_back(random_event(random, time));
    const std::uint64_t left = static_cast<std::uint64_t>(INT64_MAX) - static_cast<std::uint64_t>(time);
    const std::uint64_t gap = random.once_in(3) ? 0 : random.any(64);
    time = static_cast<std::int64_t>(static_cast<std::uint64_t>(time) + (gap <= left ? gap : 0));
  }
  return batch;
}

inline std::vector<OwnedBatch> random_batches(Random& random, std::size_t most_lanes, std::size_t most_events) {
  std::vector<OwnedBatch> made(random.below(most_lanes + 1));
  for (OwnedBatch& batch : made) batch = random_lane(random, most_events);
  return made;
}

inline std::vector<LaneBatch> borrow(const std::vector<OwnedBatch>& owned) {
  std::vector<LaneBatch> borrowed;
  for (const OwnedBatch& batch : owned) borrowed.push_back({batch.lane, batch.events});
  return borrowed;
}
inline std::vector<OwnedBatch> own(std::span<const LaneBatch> borrowed) {
  std::vector<OwnedBatch> owned;
  for (const LaneBatch& batch : borrowed) owned.push_back({batch.lane, {batch.events.begin(), batch.events.end()}});
  return owned;
}
inline std::vector<std::byte> encoded(const std::vector<OwnedBatch>& batches) {
  std::vector<std::byte> blob;
  encode_events(borrow(batches), blob);
  return blob;
}

inline std::vector<std::byte> random_bytes(Random& random, std::size_t size) {
  std::vector<std::byte> made(size);
  for (std::byte& byte : made) byte = static_cast<std::byte>(random.bits(8));
  return made;
}

inline std::vector<Rank> random_distances(Random& random) {
  std::vector<Rank> distances;
  Rank distance = -static_cast<Rank>(random.any(10));
  for (std::uint64_t i = random.below(6); i > 0; --i) {
    distance += 1 + static_cast<Rank>(random.any(8));
    if (distance != 0) distances.push_back(distance);
  }
  return distances;
}

inline void add_random_partners(Random& random, Roster& roster) {
  for (std::uint64_t i = 1 + random.below(8); i > 0; --i)
    roster.patterns.push_back(
        {random.once_in(2), random.once_in(2), random_distances(random), random_distances(random)});
  for (std::uint64_t i = 1 + random.below(8); i > 0; --i) {
    WaitCycle& cycle = roster.cycles.emplace_back();
    cycle.steps.resize(1 + random.below(5));
    for (auto& step : cycle.steps)
      for (std::uint64_t waits = random.below(4); waits > 0; --waits)
        step.push_back(static_cast<std::uint32_t>(random.below(roster.patterns.size())));
  }
  for (RankInfo& info : roster.ranks) info.cycle = static_cast<std::uint32_t>(random.below(roster.cycles.size() + 1));
}

inline LessonPage random_lesson(Random& random) {
  LessonPage lesson{.number = random.any(64), .page = 1 + static_cast<std::int32_t>(random.any(20))};
  lesson.pages = lesson.page + static_cast<std::int32_t>(random.any(20));
  for (std::string* text : {&lesson.title, &lesson.text, &lesson.now, &lesson.figure, &lesson.source})
    *text = random.text(90);
  lesson.asks = random.once_in(2);
  for (std::uint64_t i = random.below(4); i > 0; --i)
    lesson.figures.push_back({random.text(60), random.text(20), random.text(20), random.text(20),
                              static_cast<double>(random.below(8)) / 7, static_cast<double>(random.below(8)) / 7,
                              static_cast<double>(random.below(8)) / 7});
  if (!lesson.figures.empty()) lesson.verdict = random.text(90);
  return lesson;
}

inline Roster random_roster(Random& random) {
  Roster roster;
  roster.agent_pid = static_cast<std::int32_t>(random.any(31));
  roster.unix_time_ns = random.time().count();
  roster.node_time = random.time();
  roster.machine = random.text(100);
  roster.program = random.text(100);
  Rank rank = -1;
  for (std::uint64_t i = random.below(50); i > 0; --i) {
    rank += 1 + static_cast<Rank>(random.any(6));
    roster.ranks.push_back(
        {rank, static_cast<std::int32_t>(random.any(31)), static_cast<DomainId>(random.any(31)) - 1});
  }
  roster.world_size = rank + 1 + static_cast<Rank>(random.any(10));
  DomainId domain = -1;
  for (std::uint64_t i = random.below(10); i > 0; --i) {
    domain += 1 + static_cast<DomainId>(random.any(4));
    roster.domains.push_back({domain, random.text(30), static_cast<double>(random.any(40)),
                              static_cast<double>(random.any(40)) / 7, static_cast<BandwidthSource>(random.below(256)),
                              random.text(60)});
    if (roster.domains.size() > 1 && random.once_in(2)) {
      roster.domains.back().curve = roster.domains[roster.domains.size() - 2].curve;
    } else {
      for (std::uint64_t points = random.below(5); points > 0; --points)
        roster.domains.back().curve.push_back(static_cast<double>(random.any(40)) / 3);
    }
  }
  for (std::uint8_t phase = kFirstUserPhase; phase < kPhaseLimit; ++phase) {
    if (!random.once_in(8)) continue;
    roster.phases.push_back({static_cast<Phase>(phase), static_cast<Phase>(random.below(256)), random.text(31)});
  }
  if (random.once_in(2)) add_random_partners(random, roster);
  if (random.once_in(2))
    for (RankInfo& info : roster.ranks) info.steps = static_cast<StepSource>(random.below(256));
  if (random.once_in(2)) roster.began = random.time();
  for (std::uint64_t i = random.below(4) * random.below(4); i > 0; --i)
    roster.meters.push_back({static_cast<DomainId>(random.any(31)), random.text(40), random.text(10), random.text(20)});
  if (random.once_in(2)) roster.lesson = random_lesson(random);
  if (random.once_in(2)) roster.taken_over = {static_cast<std::int32_t>(random.any(31)), random.any(64)};
  return roster;
}

inline Credit random_credit(Random& random) {
  Credit credit{static_cast<std::uint32_t>(random.any(32))};
  if (random.once_in(2)) credit.began = random.time().count();
  credit.compares_clocks = random.once_in(2);
  if (random.once_in(2)) credit.pace = Nanoseconds(random.any(40));
  return credit;
}

/// A later moment of the same clock, which may be the last one that there is.
inline Nanoseconds random_later(Random& random, Nanoseconds from) {
  const auto left = static_cast<std::uint64_t>(INT64_MAX) - static_cast<std::uint64_t>(from.count());
  const std::uint64_t most = std::min(left, static_cast<std::uint64_t>(INT64_MAX));
  return from + Nanoseconds(static_cast<std::int64_t>(std::min(random.any(63), most)));
}

inline std::vector<RoundTrip> random_round_trips(Random& random) {
  std::vector<RoundTrip> trips(random.once_in(2) ? 0 : random.below(kMaxRoundTrips + 1));
  for (RoundTrip& trip : trips) {
    trip.asked = random.time(), trip.heard = random.time();
    trip.told = random_later(random, trip.heard), trip.back = random_later(random, trip.asked);
    trip.reference = static_cast<std::uint32_t>(random.any(32));
  }
  return trips;
}

/// Any, or none; with detours, or only told of.
inline OrderedTrace random_trace(Random& random) {
  const auto span = [&random](int bits) { return Nanoseconds(static_cast<std::int64_t>(random.any(bits))); };
  OrderedTrace trace{random.text(60), static_cast<std::uint32_t>(random.below(20)), span(63), span(63), {}};
  if (random.once_in(3)) return {};
  Nanoseconds start{};
  if (random.once_in(2))
    for (std::uint32_t i = 0; i < trace.count; ++i) trace.detours.push_back({start += span(57), span(60)});
  return trace;
}

inline Command random_command(Random& random) {
  Command command{static_cast<CommandId>(random.any(32)), {}, ClearOrder{}};
  for (std::uint64_t i = random.below(5); i > 0; --i) command.ranks.push_back(static_cast<Rank>(random.any(21)));
  const auto span = Nanoseconds(static_cast<std::int64_t>(random.any(63)));
  if (random.once_in(2))
    command.order = random.below(2) == 0 ? DelayOrder{span, static_cast<Step>(random.any(48)) - 1}
                                         : DelayOrder{span, kNoStep, static_cast<std::int32_t>(random.any(30)) + 1};
  else if (random.once_in(2))
    command.order = NoiseOrder{static_cast<NoiseKind>(random.below(256)), span, static_cast<double>(random.any(20)) / 3,
                               random.once_in(2), random_trace(random)};
  else if (random.once_in(2))
    command.order = UnknownOrder{random.text(60)};
  else if (random.once_in(2))
    command.order = ClearOrder{static_cast<CommandId>(random.any(32))};
  return command;
}

inline RankCalls random_calls_of(Random& random, Rank rank) {
  RankCalls calls{.rank = rank, .pid = static_cast<std::int32_t>(random.any(31))};
  const auto span = [&] { return Nanoseconds(static_cast<std::int64_t>(random.any(63))); };
  for (std::uint64_t i = random.below(4); i > 0; --i)
    calls.functions.push_back({random.text(20), random.any(64), random.any(64), random.any(64), span(), span()});
  Rank to = static_cast<Rank>(random.below(5));
  for (std::uint64_t i = random.below(4); i > 0; --i, to += 1 + static_cast<Rank>(random.any(18)))
    calls.pairs.push_back({to, random.any(64), random.any(64)});
  calls.other_messages = random.any(64);
  calls.other_bytes = random.any(64);
  if (random.once_in(2)) calls.unseen = random.any(64);
  return calls;
}

inline std::vector<RankCalls> random_calls(Random& random) {
  std::vector<RankCalls> calls;
  for (std::uint64_t i = random.once_in(2) ? random.below(4) : 0; i > 0; --i)
    calls.push_back(random_calls_of(random, static_cast<Rank>(random.any(21))));
  return calls;
}

inline Frame random_frame(Random& random) {
  Frame frame{random.text(48), random.text(64), random.any(64), {}};
  switch (random.below(14)) {
    case 0: frame.body = random_roster(random); break;
    case 1:
      frame.body = Events{random.time(),
                          random_bytes(random, random.below(300)),
                          random_calls(random),
                          random_round_trips(random),
                          random_bytes(random, random.below(3) * random.below(100)),
                          random_bytes(random, random.below(3) * random.below(100))};
      break;
    case 2: frame.body = Outcome{random_command(random), random.time(), random.once_in(2), random.text(80)}; break;
    case 3: frame.body = End{}; break;
    case 4:
      frame.body = Attach{static_cast<Role>(random.below(256)), static_cast<std::uint32_t>(random.any(32))};
      break;
    case 5: frame.body = random_credit(random); break;
    case 6: frame.body = EndAck{}; break;
    case 7: frame.body = Refusal{random.text(80)}; break;
    case 8: frame.body = Hello{}; break;
    case 9: frame.body = Record{random.text(80)}; break;
    case 10: frame.body = AskTime{random.time()}; break;
    case 11:
      frame.body = TellTime{random.time(), random.time(), random.time(), static_cast<std::uint32_t>(random.any(32))};
      break;
    case 12: frame.body = random_lesson(random); break;
    default: frame.body = random_command(random); break;
  }
  return frame;
}

}  // namespace idlewave::wire
