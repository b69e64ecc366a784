// Writes a small recording of ranks that declare much and do little.
// Usage: iw-write-greedy-session waits|partners|world|ranks FILE

#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"

using namespace idlewave;
using std::chrono::milliseconds;

namespace {

constexpr int kSteps = 30;
constexpr milliseconds kStep(10);
constexpr wire::Rank kManyRanks = 300'000;  // each of one step

std::vector<wire::Event> life_of(wire::Rank rank, int steps) {
  using wire::EventKind, wire::Phase;
  const milliseconds late(rank == 1 ? 3 : 0);
  std::vector<wire::Event> events{{{}, 0, EventKind::kStart, Phase::kNone}};
  for (int step = 0; step < steps; ++step) {
    const wire::Nanoseconds begin = step * kStep;
    events.push_back({begin, std::uint64_t(step), EventKind::kStep, step > 0 ? Phase::kWait : Phase::kNone});
    events.push_back({begin, 0, step > 0 ? EventKind::kSwitch : EventKind::kEnter, Phase::kCompute});
    events.push_back({begin + milliseconds(5) + late, 0, EventKind::kSwitch, Phase::kWait});
  }
  events.push_back({steps * kStep, 0, EventKind::kStop, Phase::kNone});
  return events;
}

/// Of `world` ranks the first so many are there, and follow one pattern.
wire::Roster roster_of(wire::Rank ranks, wire::Rank world) {
  wire::Roster roster;
  roster.world_size = world;
  for (wire::Rank rank = 0; rank < ranks; ++rank) roster.ranks.push_back({rank, 1000, wire::kNoDomain, 1});
  roster.cycles = {{{{0}}}};
  return roster;
}

wire::Roster greedy(const char* what) {
  if (!std::strcmp(what, "waits")) {
    wire::Roster roster = roster_of(64, 64);
    roster.patterns = {{false, false, {-1, 1}, {-1, 1}}};
    roster.cycles.front().steps.front().assign(1'000'000, 0);
    return roster;
  }
  if (!std::strcmp(what, "partners")) {
    wire::Roster roster = roster_of(200, 150'000);
    roster.patterns = {{false, false, std::vector<wire::Rank>(70'000), {}}};
    std::iota(roster.patterns.front().from.begin(), roster.patterns.front().from.end(), 1);
    return roster;
  }
  const bool all_report = !std::strcmp(what, "ranks");
  wire::Roster roster = all_report ? roster_of(kManyRanks, kManyRanks) : roster_of(1, wire::kMaxRanks);
  roster.patterns = {{false, true, {}, {}}};
  return roster;
}

wire::Events events_of(const wire::Roster& roster) {
  std::vector<std::vector<wire::Event>> lives;
  for (const wire::RankInfo& info : roster.ranks)
    lives.push_back(life_of(info.rank, roster.ranks.size() < std::size_t(kManyRanks) ? kSteps : 1));
  std::vector<wire::LaneBatch> batches;
  for (std::size_t i = 0; i < lives.size(); ++i)
    batches.push_back({{wire::LaneId::Kind::kRank, roster.ranks[i].rank}, lives[i]});
  wire::Events events{kSteps * kStep + wire::Nanoseconds(1), {}};
  wire::encode_events(batches, events.blob);
  return events;
}

std::vector<std::byte> frame(std::uint64_t number, decltype(wire::Frame::body) body) {
  return wire::encode({"greedy", "n1", number, std::move(body)});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto log = wire::FrameLogWriter::create(
      argv[2], {.program_version = "test", .session = "greedy", .machine = "m", .command_line = "c"});
  if (!log) return std::fprintf(stderr, "%s\n", log.error().message.c_str()), 1;
  const wire::Roster roster = greedy(argv[1]);
  const std::vector<std::vector<std::byte>> frames{frame(1, roster), frame(2, events_of(roster)),
                                                   frame(3, wire::End{})};
  for (const auto& bytes : frames)
    if (!(*log)->append(milliseconds(0), wire::Direction::kReceived, bytes)) return 1;
  return (*log)->close() ? 0 : 1;
}
