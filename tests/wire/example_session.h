#pragma once
// The worked example of docs/wire-format.md and docs/recording-format.md, and the session in tests/golden: small, and
// the same every time.

#include <cstddef>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"

namespace idlewave::wire {

inline Event example_event(std::int64_t time, EventKind kind, Phase phase, std::uint64_t value = 0) {
  return {Nanoseconds(time), value, kind, phase};
}

/// Two ranks that begin step 7; the first one has finished computing.
inline Frame example_events_frame() {
  const std::vector<Event> rank0 = {example_event(1'000'000, EventKind::kStep, Phase::kWait, 7),
                                    example_event(1'000'030, EventKind::kSwitch, Phase::kCompute),
                                    example_event(1'000'030, EventKind::kTraffic, Phase::kCompute, 65'536),
                                    example_event(1'020'000, EventKind::kSwitch, Phase::kWait)};
  const std::vector<Event> rank1 = {example_event(1'000'500, EventKind::kStep, Phase::kWait, 7),
                                    example_event(1'000'529, EventKind::kSwitch, Phase::kCompute),
                                    example_event(1'000'529, EventKind::kTraffic, Phase::kCompute, 65'536)};
  const std::vector<LaneBatch> batches = {{{LaneId::Kind::kRank, 0}, rank0}, {{LaneId::Kind::kRank, 1}, rank1}};
  Frame frame{"demo", "n1", 3, Events{Nanoseconds(1'020'001), {}}};
  encode_events(batches, std::get<Events>(frame.body).blob);
  return frame;
}

inline Frame example_end_frame() { return {"demo", "n1", 4, End{}}; }

inline Roster example_roster() {
  Roster roster;
  roster.world_size = 2;
  roster.agent_pid = 4711;
  roster.unix_time_ns = 1'700'000'000'000'000'000;
  roster.node_time = Nanoseconds(900'000);
  roster.machine = "example, 2 cores";
  roster.program = "iw-ring --kernel virtual";
  roster.ranks = {{0, 4712, 0}, {1, 4713, 0}};
  roster.domains = {{0, "virtual socket 0", 10e9, 50e9, BandwidthSource::kVirtual, ""}};
  roster.phases = {{static_cast<Phase>(8), Phase::kCompute, "triad"}};
  return roster;
}

inline FrameLogHeader example_header() { return {"0.1.0", "demo", "n1", "idlewave demo", 1'700'000'000'000'000'000}; }

/// One entry of a recording: `frame` as it would be received at `ms`.
inline FrameLogEntry example_entry(int ms, const Frame& frame, Direction direction = Direction::kReceived) {
  return {std::chrono::milliseconds(ms), direction, encode(frame)};
}

/// Both ranks wait for each other in every step, and for all in every second one.
inline Roster example_roster_with_partners() {
  Roster roster = example_roster();
  roster.patterns = {{.rendezvous = true, .collective = false, .from = {1}, .to = {1}},
                     {.rendezvous = false, .collective = true, .from = {}, .to = {}}};
  roster.cycles = {{{{0}}}, {{{0}, {0, 1}}}};
  roster.ranks[0].cycle = 2;
  return roster;
}

/// The golden session: a roster, events, a command of the operator with its outcome and effect, the end. From version 2
/// on also whom ranks wait for. A block ends after the third entry.
inline std::vector<FrameLogEntry> golden_entries(int version = kWireVersion) {
  const Command command{17, {1}, DelayOrder{std::chrono::milliseconds(250), 8}};
  const bool says_partners = version > 1;
  std::vector<Event> delayed = {example_event(1'040'000, EventKind::kStep, Phase::kWait, 8),
                                example_event(1'040'010, EventKind::kDelayBegin, Phase::kDelay, 17),
                                example_event(251'040'020, EventKind::kDelayEnd, Phase::kWait, 17),
                                example_event(251'040'050, EventKind::kStop, Phase::kNone)};
  if (says_partners) delayed.insert(delayed.begin(), example_event(1'039'990, EventKind::kPartners, Phase::kWait, 2));
  const std::vector<Event> bandwidth = {example_event(200'000'000, EventKind::kBandwidth, Phase::kNone, 2'000'000'000)};
  const std::vector<LaneBatch> batches = {{{LaneId::Kind::kRank, 1}, delayed}, {{LaneId::Kind::kDomain, 0}, bandwidth}};
  Events effect{Nanoseconds(251'040'051), {}};
  encode_events(batches, effect.blob);
  const Roster roster = says_partners ? example_roster_with_partners() : example_roster();
  std::vector<FrameLogEntry> entries = {
      example_entry(10, {"demo", "n1", 1, roster}),
      example_entry(25, {"demo", "n1", 2, Events{Nanoseconds(1'000'000), {}}}),
      example_entry(50, example_events_frame()),
      example_entry(60, {"demo", "", 0, command}, Direction::kSent),
      example_entry(75, {"demo", "n1", 4, Outcome{command, Nanoseconds(1'030'000), true, ""}}),
      example_entry(300, {"demo", "n1", 5, effect}),
      example_entry(301, {"demo", "n1", 6, End{}})};
  // Behind the map's head and the key "v"; all else of a frame that says nothing new is as it was in version 1.
  for (FrameLogEntry& entry : entries) entry.bytes[3] = static_cast<std::byte>(version);
  return entries;
}
inline constexpr std::size_t kGoldenFirstBlock = 3;

}  // namespace idlewave::wire
