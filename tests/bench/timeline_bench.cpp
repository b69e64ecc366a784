// iw-bench-timeline: events into the timeline beside bare decoding, and one screen of 10,000 ranks after 100 million
// events beside adding up the same bytes.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "monitor/ingest/ingest.h"
#include "monitor/timeline/timeline.h"
#include "probe/wire/codec.h"
#include "probe/wire/frame.h"

namespace {

using namespace idlewave;
using wire::Event;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;
using wire::Rank;

constexpr std::uint64_t kBudget = 512u << 20;

/// Of processor time: nothing here waits for anything, and a shared machine takes the processor away in between.
double seconds_of(auto&& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
  };
  const double begin = now();
  work();
  return now() - begin;
}

wire::Roster roster_of(Rank ranks) {
  wire::Roster roster;
  roster.world_size = ranks;
  roster.domains = {{0, "socket 0", 1e10, 5e10, wire::BandwidthSource::kVirtual, ""}};
  for (Rank rank = 0; rank < ranks; ++rank) roster.ranks.push_back({rank, 1, 0});
  return roster;
}

/// The life of one rank in steps of 300 us, three events each, from step `first` on; ranks differ a little.
void live(Rank rank, int first, int steps, std::vector<Event>& events) {
  events.clear();
  std::uint64_t mix = std::uint64_t(rank) * 0x9e3779b97f4a7c15u + std::uint64_t(first);
  for (int step = first; step < first + steps; ++step) {
    mix = mix * 6364136223846793005u + 1442695040888963407u;
    const Nanoseconds begin(std::int64_t(step) * 300'000 + std::int64_t(mix >> 50));
    events.push_back({begin, std::uint64_t(step), EventKind::kStep, Phase::kNone});
    events.push_back({begin + Nanoseconds(100), 0, EventKind::kSwitch, Phase::kCompute});
    events.push_back(
        {begin + Nanoseconds(150'000 + std::int64_t(mix >> 48 & 0xffff)), 0, EventKind::kSwitch, Phase::kWait});
  }
}

struct Stream {
  std::vector<std::vector<std::byte>> frames;  ///< The first one is the roster.
  std::vector<std::vector<std::byte>> blobs;
  std::uint64_t events = 0;
};

/// Frames as an agent with 40 ranks sends them when it drains its rings every 25 ms.
Stream make_stream(int frames) {
  constexpr Rank kRanks = 40;
  constexpr int kStepsAFrame = 84;
  Stream stream;
  stream.frames.push_back(wire::encode({"bench", "node", 1, roster_of(kRanks)}));
  std::vector<std::vector<Event>> events(kRanks);
  for (int f = 0; f < frames; ++f) {
    std::vector<wire::LaneBatch> batches;
    for (Rank rank = 0; rank < kRanks; ++rank) {
      live(rank, f * kStepsAFrame, kStepsAFrame, events[std::size_t(rank)]);
      batches.push_back({{wire::LaneId::Kind::kRank, rank}, events[std::size_t(rank)]});
      stream.events += events[std::size_t(rank)].size();
    }
    wire::Events body{Nanoseconds(std::int64_t(f + 1) * kStepsAFrame * 300'000), {}};
    wire::encode_events(batches, body.blob);
    stream.blobs.push_back(body.blob);
    stream.frames.push_back(wire::encode({"bench", "node", std::uint64_t(f) + 2, std::move(body)}));
  }
  return stream;
}

struct IngestFigures {
  double events_per_s = 0;
  double floor_events_per_s = 0;
};

IngestFigures measure_ingest() {
  const Stream stream = make_stream(400);
  IngestFigures best;
  for (int round = 0; round < 5; ++round) {
    wire::EventDecoder decoder;
    std::size_t batches = 0;
    const double floor = seconds_of([&] {
      for (const auto& blob : stream.blobs) batches += decoder.decode(blob)->size();
    });
    timeline::Timeline timeline(kBudget);
    ingest::Ingest ingest(timeline);
    const double whole = seconds_of([&] {
      for (const auto& frame : stream.frames)
        ingest.accept(wire::decode_in_place(frame), Nanoseconds{}, wire::Direction::kReceived);
    });
    if (timeline.events() != stream.events || batches == 0)
      std::fprintf(stderr, "iw-bench-timeline: events are missing\n"), std::exit(1);
    best.events_per_s = std::max(best.events_per_s, double(stream.events) / whole);
    best.floor_events_per_s = std::max(best.floor_events_per_s, double(stream.events) / floor);
  }
  return best;
}

struct ScreenFigures {
  double fill_events_per_s = 0;
  double picture_ms = 0;
  double floor_ms = 0;
  double memory_mb = 0;
  double events = 0;
};

constexpr Rank kManyRanks = 10'000;
constexpr int kColumns = 200;
constexpr int kRows = 120;

/// 10,000 ranks with 10,000 events each: one second of lives is made once and moved in time, so that making it costs
/// little.
double fill(timeline::Timeline& timeline) {
  constexpr int kSteps = 84;
  timeline.apply_roster("node", roster_of(kManyRanks));
  std::vector<std::vector<Event>> lives(64);
  for (Rank rank = 0; rank < Rank(lives.size()); ++rank) live(rank, 0, kSteps, lives[std::size_t(rank)]);
  const Nanoseconds span(std::int64_t(kSteps) * 300'000);
  return seconds_of([&] {
    for (std::int64_t round = 0; timeline.events() < 100'000'000; ++round) {
      for (Rank rank = 0; rank < kManyRanks; ++rank)
        timeline.append("node", {wire::LaneId::Kind::kRank, rank}, lives[std::size_t(rank) % lives.size()]);
      for (auto& life : lives)
        for (Event& event : life) event.time += span;
      timeline.advance("node", span * (round + 1));
    }
  });
}

void add_bytes(const std::uint8_t* __restrict bytes, std::uint16_t* __restrict sums, std::size_t count) {
  for (; count >= 16; count -= 16, bytes += 16, sums += 16)
    for (std::size_t i = 0; i < 16; ++i) sums[i] = std::uint16_t(sums[i] + bytes[i]);
}

/// As many bytes as the picture's buckets, lane by lane, added up with nothing else done.
double add_bytes_ms(std::size_t bytes_a_lane) {
  std::vector<std::vector<std::uint8_t>> lanes(kManyRanks, std::vector<std::uint8_t>(bytes_a_lane, 1));
  std::vector<std::uint16_t> sums(bytes_a_lane);
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 20; ++round) {
    best = std::min(best, seconds_of([&] {
                      for (const auto& lane : lanes) add_bytes(lane.data(), sums.data(), bytes_a_lane);
                    }));
    asm volatile("" : : "r"(sums.data()) : "memory");
  }
  return best * 1e3;
}

ScreenFigures measure_screen() {
  timeline::Timeline timeline(kBudget);
  ScreenFigures figures;
  figures.fill_events_per_s = double(100'000'000) / fill(timeline);
  std::vector<timeline::Timeline::RankRange> rows;
  for (Rank row = 0; row < kRows; ++row) rows.push_back({row * kManyRanks / kRows, (row + 1) * kManyRanks / kRows});
  std::vector<timeline::Shares> screen(std::size_t(kRows) * kColumns);
  const Nanoseconds now = timeline.now();
  figures.picture_ms = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 30; ++round)
    figures.picture_ms =
        std::min(figures.picture_ms, 1e3 * seconds_of([&] { timeline.picture(rows, {}, now, kColumns, screen); }));
  const double buckets = double(now.count()) / double(1 << 22);  // the level that fits 200 columns of the whole second
  figures.floor_ms = add_bytes_ms(std::size_t(buckets) * timeline::kCategories);
  figures.memory_mb = double(timeline.bytes_used()) / double(1 << 20);
  figures.events = double(timeline.events());
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc > 1 && std::string_view(argv[1]) == "--json";
  const IngestFigures ingest = measure_ingest();
  const ScreenFigures screen = measure_screen();
  const std::pair<const char*, double> figures[] = {
      {"ingest_events_per_s", ingest.events_per_s},
      {"ingest_floor_events_per_s", ingest.floor_events_per_s},
      {"timeline_many_ranks_events_per_s", screen.fill_events_per_s},
      {"timeline_events", screen.events},
      {"timeline_memory_mb", screen.memory_mb},
      {"screen_picture_ms", screen.picture_ms},
      {"screen_picture_floor_ms", screen.floor_ms},
  };
  const char* separator = json ? "{" : "";
  for (const auto& [name, value] : figures) {
    if (json)
      std::printf("%s\"%s\": %.6g", std::exchange(separator, ", "), name, value);
    else
      std::printf("%-36s %14.6g\n", name, value);
  }
  if (json) std::printf("}\n");
  return 0;
}
