// Writes a recording of one rank with an hour or so of silence in the middle that claims to have lasted for 95 years.
// Usage: iw-write-long-session FILE

#include <chrono>
#include <cstdio>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"

using namespace idlewave;

namespace {

std::vector<std::byte> frame(std::uint64_t number, decltype(wire::Frame::body) body) {
  return wire::encode({"long", "n1", number, std::move(body)});
}

wire::Events events_of_rank_0(std::vector<wire::Event> lived, wire::Nanoseconds up_to) {
  const wire::LaneBatch batch{{wire::LaneId::Kind::kRank, 0}, lived};
  wire::Events events{up_to, {}};
  wire::encode_events(std::span(&batch, 1), events.blob);
  return events;
}

}  // namespace

int main(int argc, char** argv) {
  using std::chrono::seconds;
  constexpr wire::Nanoseconds kYears = std::chrono::hours(24 * 365 * 95);
  if (argc != 2) return 2;
  auto log = wire::FrameLogWriter::create(
      argv[1], {.program_version = "test", .session = "long", .machine = "m", .command_line = "c"});
  if (!log) return std::fprintf(stderr, "%s\n", log.error().message.c_str()), 1;
  wire::Roster roster;
  roster.world_size = 1;
  roster.agent_pid = 1;
  roster.ranks = {{0, 1000, wire::kNoDomain}};
  const wire::Event start{seconds(0), 0, wire::EventKind::kStart, wire::Phase::kNone};
  const wire::Event stop{seconds(3600), 0, wire::EventKind::kStop, wire::Phase::kNone};
  const std::vector<std::pair<wire::Nanoseconds, std::vector<std::byte>>> entries = {
      {seconds(0), frame(1, roster)},
      {seconds(0), frame(2, events_of_rank_0({start}, seconds(1)))},
      {kYears, frame(3, events_of_rank_0({stop}, seconds(3601)))},
      {kYears, frame(4, wire::End{})}};
  for (const auto& [at, bytes] : entries)
    if (!(*log)->append(at, wire::Direction::kReceived, bytes)) return 1;
  return (*log)->close() ? 0 : 1;
}
