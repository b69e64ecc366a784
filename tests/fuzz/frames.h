#pragma once
// Frames as a confused or malicious peer of our own version may send them: well-formed as msgpack, wild in what they
// say. Raw bytes are one of the kinds.

#include <algorithm>
#include <string>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "tests/fuzz/bytes.h"

namespace idlewave::fuzz {

using wire::Nanoseconds;

inline std::vector<wire::Rank> take_distances(Bytes& in) {
  std::vector<wire::Rank> distances;
  for (auto count = in.below(4); count > 0; --count)
    distances.push_back(wire::Rank(in.flag() ? std::int64_t(in.below(9)) - 4 : in.number()));
  if (in.below(8) == 0) return distances;
  std::ranges::sort(distances);
  distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
  std::erase(distances, 0);
  return distances;
}

inline void take_partners(Bytes& in, wire::Roster& roster) {
  for (auto count = in.below(5); count > 0; --count)
    roster.patterns.push_back({in.flag(), in.flag(), take_distances(in), take_distances(in)});
  for (auto count = in.below(4); count > 0; --count) {
    wire::WaitCycle& cycle = roster.cycles.emplace_back();
    cycle.steps.resize(in.below(70));
    for (auto& step : cycle.steps)
      for (auto waits = in.below(4); waits > 0; --waits) step.push_back(std::uint32_t(in.below(5)));
  }
  for (wire::RankInfo& info : roster.ranks) info.cycle = std::uint32_t(in.below(5));
}

inline wire::Roster take_roster(Bytes& in) {
  wire::Roster roster;
  // Few, since whoever looks at a session looks at each rank; the most that there may be are tried by tests of their
  // own.
  roster.world_size = wire::Rank(in.flag() ? in.below(9) : in.below(1000));
  roster.agent_pid = in.byte();
  roster.unix_time_ns = in.number();
  roster.node_time = Nanoseconds(in.number());
  roster.machine = in.text(8);
  roster.program = in.text(8);
  for (int count = int(in.below(6)), rank = 0; rank < count; ++rank)
    roster.ranks.push_back({wire::Rank(in.flag() ? rank : in.byte()), in.byte(), wire::DomainId(in.below(4)) - 1});
  for (int count = int(in.below(4)), id = 0; id < count; ++id)
    roster.domains.push_back({id, in.text(6), in.real(), in.real(), wire::BandwidthSource(in.below(256)), in.text(4)});
  for (int count = int(in.below(3)), phase = 0; phase < count; ++phase)
    roster.phases.push_back({wire::Phase(8 + phase), wire::Phase(in.below(256)), in.text(4)});
  for (wire::DomainInfo& domain : roster.domains)
    for (auto points = in.below(4); points > 0; --points) domain.curve.push_back(in.real());
  // Few, so that kept inputs go on meaning what they meant.
  if (roster.agent_pid >= 224)
    take_partners(in, roster);
  else if (roster.agent_pid >= 192)
    roster.began = Nanoseconds(in.number());
  return roster;
}

inline wire::Events take_events(Bytes& in) {
  std::vector<std::vector<wire::Event>> lanes(1 + in.below(4));
  std::vector<wire::LaneBatch> batches;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto kind = in.below(5) == 0 ? wire::LaneId::Kind::kDomain : wire::LaneId::Kind::kRank;
    const std::int32_t index = in.below(8) == 0 ? std::int32_t(in.number() & 0x7fffffff) : std::int32_t(lane);
    for (int count = int(in.below(12)); count > 0; --count)
      lanes[lane].push_back({Nanoseconds(in.number()), std::uint64_t(in.number()) & wire::kMaxEventValue,
                             wire::EventKind(in.below(16)), wire::Phase(in.below(10))});
    std::ranges::sort(lanes[lane], {}, [](const wire::Event& event) { return event.time; });
    batches.push_back({{kind, index}, lanes[lane]});
  }
  wire::Events events{Nanoseconds(in.number()), {}};
  wire::encode_events(batches, events.blob);
  // Few, so that kept inputs go on meaning what they meant.
  if ((events.up_to.count() & 15) != 7) return events;
  for (auto trips = in.below(4); trips > 0; --trips) {
    const Nanoseconds asked(in.number()), heard(in.number());
    events.round_trips.push_back({asked, heard, heard, asked, std::uint32_t(in.below(3))});
  }
  return events;
}

inline wire::Command take_command(Bytes& in) {
  wire::Command command{wire::CommandId(in.number()), {}, wire::ClearOrder{}};
  for (int count = int(in.below(4)); count > 0; --count) command.ranks.push_back(wire::Rank(in.below(8)));
  const std::uint8_t kind = in.byte();
  // Few, so that kept inputs go on meaning what they meant.
  if (kind >= 252)
    command.order = wire::UnknownOrder{in.text(8)};
  else if (kind >= 248)
    command.order = wire::ClearOrder{wire::CommandId(in.number())};
  else if (kind % 3 == 0)
    command.order = wire::DelayOrder{Nanoseconds(in.number()), in.number()};
  else if (kind % 3 == 1)
    command.order = wire::NoiseOrder{wire::NoiseKind(in.below(256)), Nanoseconds(in.number()), in.real()};
  return command;
}

inline decltype(wire::Frame::body) take_body(Bytes& in) {
  switch (in.below(16)) {
    case 0:
    case 1: return take_roster(in);
    case 2:
    case 3:
    case 4:
    case 5: return take_events(in);
    case 6: return wire::Outcome{take_command(in), Nanoseconds(in.number()), in.flag(), in.text(8)};
    case 7: return wire::End{};
    case 8: return wire::Attach{wire::Role(in.below(256)), std::uint32_t(in.number())};
    case 9: {
      wire::Credit credit{std::uint32_t(in.number())};
      credit.compares_clocks = (credit.frames & 3) == 1;
      if ((credit.frames & 12) == 4) credit.pace = wire::Nanoseconds(credit.frames) * 1000;
      return credit;
    }
    case 10: return wire::EndAck{};
    case 11: return wire::Refusal{in.text(8)};
    case 12: return wire::Hello{};
    case 13: return wire::Record{in.text(8)};
    case 14: return wire::LessonPage{.number = std::uint64_t(in.number()), .title = in.text(8), .text = in.text(8)};
    default: return take_command(in);
  }
}

/// The bytes of one message. `next`: the number that its sender would give it; mostly right.
inline std::vector<std::byte> take_message(Bytes& in, std::uint64_t& next) {
  if (in.below(16) == 0) return as_bytes(in.take(in.below(64)));
  constexpr const char* kNodes[] = {"n1", "n1", "n1", "n2", "*", ""};
  wire::Frame frame{in.below(16) == 0 ? in.text(4) : "s", kNodes[in.below(6)], 0, take_body(in)};
  if (wire::is_sequenced(frame)) {
    if (in.below(16) == 0) next = std::uint64_t(in.number());
    frame.sequence = ++next;
  }
  return wire::encode(frame);
}

}  // namespace idlewave::fuzz
