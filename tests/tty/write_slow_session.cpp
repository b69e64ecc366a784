// Writes a small recording that takes long to read: many ranks (20,000) for whose node a minute goes by, with the same moments
// told again and again. Usage: iw-write-slow-session FILE [RANKS]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"

using namespace idlewave;

namespace {

constexpr int kFrames = 600;
constexpr wire::Nanoseconds kBetweenFrames = std::chrono::milliseconds(100);

wire::Roster roster(wire::Rank ranks) {
  wire::Roster roster;
  roster.world_size = ranks;
  for (wire::Rank rank = 0; rank < ranks; ++rank) roster.ranks.push_back({rank, 1000 + rank, wire::kNoDomain});
  return roster;
}

std::vector<std::byte> many_events(wire::Rank ranks) {
  using wire::EventKind, wire::Phase;
  const std::vector<wire::Event> lived(6, {wire::Nanoseconds(0), 0, EventKind::kSwitch, Phase::kCompute});
  std::vector<wire::LaneBatch> batches;
  for (wire::Rank rank = 0; rank < ranks; ++rank) batches.push_back({{wire::LaneId::Kind::kRank, rank}, lived});
  std::vector<std::byte> blob;
  wire::encode_events(batches, blob);
  return blob;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return 2;
  const wire::Rank ranks = argc == 3 ? std::atoi(argv[2]) : 20'000;
  auto log = wire::FrameLogWriter::create(
      argv[1], {.program_version = "test", .session = "slow", .machine = "m", .command_line = "c"});
  if (!log) return std::fprintf(stderr, "%s\n", log.error().message.c_str()), 1;
  const std::vector<std::byte> blob = many_events(ranks);
  const auto append = [&](int number, decltype(wire::Frame::body) body) {
    const auto bytes = wire::encode({"slow", "n1", std::uint64_t(number), std::move(body)});
    return bool((*log)->append(number * kBetweenFrames, wire::Direction::kReceived, bytes));
  };
  if (!append(1, roster(ranks))) return 1;
  for (int number = 2; number <= kFrames; ++number)
    if (!append(number, wire::Events{number * kBetweenFrames, blob})) return 1;
  return append(kFrames + 1, wire::End{}) && (*log)->close() ? 0 : 1;
}
