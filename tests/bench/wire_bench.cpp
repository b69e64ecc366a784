// iw-bench-wire: what an event costs in time and bytes on its way through codec, frame and recording.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"
#include "tests/wire/synthetic_stream.h"

namespace {

using namespace idlewave::wire;

constexpr std::size_t kBatchEvents = 256;
constexpr std::size_t kBatches = 8;  // Different ones, so that no branch predictor learns them by heart.
constexpr int kRounds = 10000;

template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

/// Best time of one call per event, over many rounds through all batches.
template <class Work>
double best_ns_per_event(std::size_t events_a_round, Work&& round) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    round();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / static_cast<double>(events_a_round));
  }
  return best;
}

/// One frame of about kBatchEvents events; owns its events.
struct Batch {
  std::vector<std::vector<Event>> lanes;
  std::vector<LaneBatch> batches;
  std::vector<std::byte> blob;
};

std::vector<Batch> make_batches(int ranks) {
  const int steps = static_cast<int>(kBatches + 4) * static_cast<int>(kBatchEvents) / (4 * ranks) + 8;
  const std::vector<std::vector<Event>> lanes = synthetic_lanes({.ranks = ranks, .steps = steps, .jitter_ns = 100e3});
  const Nanoseconds window(static_cast<std::int64_t>(20.15e6 * kBatchEvents / (4.0 * ranks)));
  SyntheticFrames frames(lanes, window);
  std::vector<Batch> made(kBatches);
  std::vector<LaneBatch> borrowed;
  frames.next(borrowed);  // The first one holds the common start, which is not typical.
  for (Batch& batch : made) {
    if (!frames.next(borrowed)) std::abort();
    for (const LaneBatch& lane : borrowed) batch.lanes.emplace_back(lane.events.begin(), lane.events.end());
    for (std::size_t i = 0; i < borrowed.size(); ++i) batch.batches.push_back({borrowed[i].lane, batch.lanes[i]});
    encode_events(batch.batches, batch.blob);
  }
  return made;
}

void copy_events(std::span<const LaneBatch> batches, Event* to) {
  for (const LaneBatch& lane : batches) {
    std::memcpy(to, lane.events.data(), lane.events.size_bytes());
    to += lane.events.size();
  }
}

struct CodecFigures {
  double encode_ns = 0, decode_ns = 0, copy_ns = 0, bytes_per_event = 0;
};

CodecFigures measure_codec(int ranks) {
  const std::vector<Batch> made = make_batches(ranks);
  std::size_t events = 0, bytes = 0, most = 0;
  for (const Batch& batch : made) {
    events += event_count(batch.batches);
    bytes += batch.blob.size();
    most = std::max(most, event_count(batch.batches));
  }
  CodecFigures figures;
  figures.bytes_per_event = static_cast<double>(bytes) / static_cast<double>(events);
  std::vector<std::byte> out;
  figures.encode_ns = best_ns_per_event(events, [&] {
    for (const Batch& batch : made) out.clear(), encode_events(batch.batches, out), keep(out.data());
  });
  EventDecoder decoder;
  figures.decode_ns = best_ns_per_event(events, [&] {
    for (const Batch& batch : made) keep(decoder.decode(batch.blob));
  });
  std::vector<Event> copies(most);
  const double once = best_ns_per_event(events, [&] {
    for (const Batch& batch : made) copy_events(batch.batches, copies.data()), keep(copies.data());
  });
  figures.copy_ns = 2 * once;  // There and back.
  return figures;
}

struct SessionFigures {
  double bytes_per_event = 0, blob_bytes_per_event = 0, events_per_frame = 0;
};

/// A live session of 40 ranks: 40 frames a second, the recorder ends a block every second.
SessionFigures measure_session(const std::string& folder) {
  const std::vector<std::vector<Event>> lanes = synthetic_lanes({.steps = 2000});
  SyntheticFrames frames(lanes, std::chrono::milliseconds(25));
  const std::string path = folder + "/session.iw";
  auto writer = FrameLogWriter::create(path, FrameLogHeader{"bench", "bench", {}, {}, 0});
  if (!writer) std::fprintf(stderr, "%s\n", writer.error().message.c_str()), std::exit(1);
  std::vector<LaneBatch> batches;
  std::size_t events = 0, blobs = 0;
  std::uint64_t sequence = 0;
  while (frames.next(batches)) {
    Frame frame{.session = "lesson-4711", .node = "node17", .sequence = ++sequence, .body = Events{frames.until(), {}}};
    encode_events(batches, std::get<Events>(frame.body).blob);
    events += event_count(batches);
    blobs += std::get<Events>(frame.body).blob.size();
    const auto received = Nanoseconds(static_cast<std::int64_t>(sequence) * 25'000'000 +
                                      static_cast<std::int64_t>(sequence * 7919 % 100'000));
    if (!(*writer)->append(received, Direction::kReceived, encode(frame))) std::exit(1);
    if (sequence % 40 == 0 && !(*writer)->flush()) std::exit(1);
  }
  if (!(*writer)->close()) std::exit(1);
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  const auto count = static_cast<double>(events);
  return {size / count, static_cast<double>(blobs) / count, count / static_cast<double>(sequence)};
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc > 1 && std::string_view(argv[1]) == "--json";
  char folder[] = "/tmp/iw-bench-wire.XXXXXX";
  if (::mkdtemp(folder) == nullptr) return std::perror("iw-bench-wire: no temporary folder"), 1;
  const CodecFigures codec = measure_codec(8);
  const CodecFigures short_lanes = measure_codec(40);
  const SessionFigures session = measure_session(folder);
  std::filesystem::remove_all(folder);

  const std::pair<const char*, double> figures[] = {
      {"wire_encode_ns", codec.encode_ns},
      {"wire_decode_ns", codec.decode_ns},
      {"wire_bytes_per_event", codec.bytes_per_event},
      {"wire_copy_floor_ns", codec.copy_ns},
      {"wire_encode_40_lanes_ns", short_lanes.encode_ns},
      {"wire_decode_40_lanes_ns", short_lanes.decode_ns},
      {"wire_bytes_per_event_40_lanes", short_lanes.bytes_per_event},
      {"wire_copy_floor_40_lanes_ns", short_lanes.copy_ns},
      {"session_bytes_per_event", session.bytes_per_event},
      {"session_blob_bytes_per_event", session.blob_bytes_per_event},
      {"session_events_per_frame", session.events_per_frame},
  };
  const char* separator = json ? "{" : "";
  for (const auto& [name, value] : figures) {
    if (json)
      std::printf("%s\"%s\": %.3f", std::exchange(separator, ", "), name, value);
    else
      std::printf("%-32s %10.3f\n", name, value);
  }
  if (json) std::printf("}\n");
  return 0;
}
