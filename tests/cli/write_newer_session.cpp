// iw-write-newer-session FILE MORE [ORDER]: a session whose sender knows MORE values of each enumeration than we do, and
// uses the last of them (255: the largest that there is room for); 0: one of today, with as many events. With ORDER, a
// word of five letters, the operator orders that instead of noise, in the same words.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "tests/wire/example_session.h"

namespace idlewave::wire {
namespace {

template <class Enum>
Enum newer(Enum last_known, int more) {
  return static_cast<Enum>(std::min(static_cast<int>(last_known) + more, 255));
}

/// The golden session has none here at all, not even that there are no lanes.
Events without_events(Nanoseconds up_to) {
  Events result{up_to, {}};
  encode_events({}, result.blob);
  return result;
}

/// Behind each event one of a kind that is not known; of today's, one that says nothing new.
Events with_more_events(const Events& events, int more) {
  if (events.blob.empty()) return without_events(events.up_to);
  constexpr int kMostKind = 15;
  const auto kind = static_cast<EventKind>(std::min(kEventKindLimit - 1 + more, kMostKind));
  EventDecoder decoder;
  std::vector<std::vector<Event>> lanes;
  std::vector<LaneBatch> batches;
  const auto decoded = decoder.decode(events.blob);
  for (const LaneBatch& batch : *decoded) {
    std::vector<Event>& lane = lanes.emplace_back();
    for (const Event& event : batch.events) {
      lane.push_back(event);
      const bool is_rank = batch.lane.kind == LaneId::Kind::kRank && event.kind != EventKind::kStop;
      if (is_rank) lane.push_back({event.time, 5, more > 0 ? kind : EventKind::kTraffic, event.phase});
    }
    batches.push_back({batch.lane, {}});
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) batches[i].events = lanes[i];
  Events result{events.up_to, {}};
  encode_events(batches, result.blob);
  return result;
}

Frame newer_frame(Frame frame, int more) {
  const NoiseKind kind = more == 0 ? NoiseKind::kPeriodic : newer(NoiseKind::kTrace, more);
  const NoiseOrder noise{kind, std::chrono::milliseconds(1), 10};
  if (auto* roster = std::get_if<Roster>(&frame.body)) {
    roster->domains.front().source = newer(BandwidthSource::kResctrl, more);
    roster->phases.front().category = newer(Phase::kCommunicate, more);
  }
  if (auto* events = std::get_if<Events>(&frame.body)) *events = with_more_events(*events, more);
  if (auto* command = std::get_if<Command>(&frame.body)) command->order = noise;
  if (auto* outcome = std::get_if<Outcome>(&frame.body)) outcome->command.order = noise;
  return frame;
}

void rename_order(std::vector<std::byte>& bytes, std::string_view order) {
  constexpr std::string_view kKnown = "\xa5noise";
  const auto known = std::as_bytes(std::span(kKnown)), name = std::as_bytes(std::span(order));
  const auto found = std::search(bytes.begin(), bytes.end(), known.begin(), known.end());
  if (found != bytes.end()) std::copy(name.begin(), name.end(), found + 1);
}

Status write_session(const char* path, int more, std::string_view order) {
  auto writer = FrameLogWriter::create(path, example_header());
  if (!writer) return writer.error();
  for (const FrameLogEntry& entry : golden_entries()) {
    auto bytes = encode(newer_frame(*decode(entry.bytes), more));
    if (!order.empty()) rename_order(bytes, order);
    if (const Status status = (*writer)->append(entry.received_at, entry.direction, bytes); !status) return status;
  }
  return (*writer)->close();
}

}  // namespace
}  // namespace idlewave::wire

int main(int argc, char** argv) {
  const std::string_view order = argc == 4 ? argv[3] : "";
  if (argc < 3 || argc > 4 || (!order.empty() && order.size() != 5))
    return std::fprintf(stderr, "usage: iw-write-newer-session FILE MORE [ORDER-OF-FIVE-LETTERS]\n"), 2;
  const auto written = idlewave::wire::write_session(argv[1], std::atoi(argv[2]), order);
  if (!written) return std::fprintf(stderr, "%s\n", written.error().message.c_str()), 1;
  return 0;
}
