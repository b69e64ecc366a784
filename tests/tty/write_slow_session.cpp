// Writes a small recording that takes long to read: 20,000 ranks for whose nodes a minute goes by, with the same moments
// told again and again. Usage: iw-write-slow-session FILE

#include <chrono>
#include <cstdio>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"

using namespace idlewave;

namespace {

constexpr wire::Rank kRanks = 20'000;
constexpr int kFrames = 600;
constexpr wire::Nanoseconds kBetweenFrames = std::chrono::milliseconds(100);

wire::Roster roster() {
  wire::Roster roster;
  roster.world_size = kRanks;
  for (wire::Rank rank = 0; rank < kRanks; ++rank) roster.ranks.push_back({rank, 1000 + rank, wire::kNoDomain});
  return roster;
}

std::vector<std::byte> many_events() {
  using wire::EventKind, wire::Phase;
  const std::vector<wire::Event> lived(6, {wire::Nanoseconds(0), 0, EventKind::kSwitch, Phase::kCompute});
  std::vector<wire::LaneBatch> batches;
  for (wire::Rank rank = 0; rank < kRanks; ++rank) batches.push_back({{wire::LaneId::Kind::kRank, rank}, lived});
  std::vector<std::byte> blob;
  wire::encode_events(batches, blob);
  return blob;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto log = wire::FrameLogWriter::create(
      argv[1], {.program_version = "test", .session = "slow", .machine = "m", .command_line = "c"});
  if (!log) return std::fprintf(stderr, "%s\n", log.error().message.c_str()), 1;
  const std::vector<std::byte> blob = many_events();
  const auto append = [&](int number, decltype(wire::Frame::body) body) {
    const auto bytes = wire::encode({"slow", "n1", std::uint64_t(number), std::move(body)});
    return bool((*log)->append(number * kBetweenFrames, wire::Direction::kReceived, bytes));
  };
  if (!append(1, roster())) return 1;
  for (int number = 2; number <= kFrames; ++number)
    if (!append(number, wire::Events{number * kBetweenFrames, blob})) return 1;
  return append(kFrames + 1, wire::End{}) && (*log)->close() ? 0 : 1;
}
