// Frames that nobody should have sent.

#include <gtest/gtest.h>

#include "monitor/ingest/ingest.h"
#include "tests/any_seed.h"
#include "tests/ingest/sender.h"
#include "tests/timeline/builders.h"

namespace idlewave::ingest {
namespace {

using timeline::enter;
using timeline::rank_lane;
using timeline::roster;
using timeline::Timeline;
using wire::Direction;
using wire::Event;
using wire::Phase;

TEST(IngestOfNonsense, SurvivesRandomBytesAndCountsEachFrame) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  Timeline timeline;
  Ingest ingest(timeline);
  constexpr std::uint64_t kFrames = 20000;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    Bytes bytes(random() % 200);
    for (std::byte& byte : bytes) byte = std::byte(random());
    ingest.accept(wire::decode_in_place(bytes), Nanoseconds{}, Direction::kReceived);
  }
  EXPECT_EQ(ingest.stats().bad, kFrames) << "seed " << seed;
  EXPECT_LT(timeline.bytes_used(), 10u << 20) << "seed " << seed;
}

TEST(IngestOfNonsense, SurvivesMutatedFrames) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  const std::vector<Bytes> frames = some_frames();
  for (int round = 0; round < 300; ++round) {
    Timeline timeline(4 << 20);
    Ingest ingest(timeline, "s");
    for (Bytes bytes : frames) {
      for (std::uint64_t flips = random() % 3; flips > 0; --flips) bytes[random() % bytes.size()] = std::byte(random());
      if (random() % 10 == 0) bytes.resize(random() % bytes.size());
      ingest.accept(wire::decode_in_place(bytes), Nanoseconds{}, Direction::kReceived);
    }
    std::vector<timeline::Shares> screen(4 * 50);
    const std::array<Timeline::RankRange, 4> rows{{{0, 1}, {1, 2}, {2, 3}, {3, 4}}};
    timeline.picture(rows, timeline.begin(), timeline.now(), 50, screen);
    for (const timeline::Shares& shares : screen) ASSERT_LE(shares.known(), 1.001f) << "seed " << seed;
    ASSERT_LE(timeline.bytes_used(), 4u << 20) << "seed " << seed;
  }
}

/// Well-formed frames whose numbers and times are anything.
TEST(IngestOfNonsense, SurvivesFramesWithTimesOfAllSizes) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  const auto any_time = [&] { return Nanoseconds(std::int64_t(random()) >> (random() % 64)); };
  for (int round = 0; round < 300; ++round) {
    Timeline timeline(4 << 20);
    Ingest ingest(timeline, "s");
    for (int i = 1; i < 40; ++i) {
      const bool first = random() % 2 == 0;
      wire::Roster any = first ? roster(0, 10, 20) : roster(10, 20, 20);
      any.agent_pid = std::int32_t(random() % 3);
      any.node_time = any_time();
      any.unix_time_ns = any_time().count();
      if (random() % 2 == 0) any.began = any_time();
      std::vector<Event> lived{enter(any_time(), Phase::kCompute),
                               {any_time(), 1, wire::EventKind(random() % 16), Phase::kWait}};
      std::sort(lived.begin(), lived.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
      const std::array<wire::LaneBatch, 1> batches{{{rank_lane(first ? 3 : 13), lived}}};
      wire::Events told{any_time(), {}};
      wire::encode_events(batches, told.blob);
      decltype(wire::Frame::body) body = std::move(told);
      if (random() % 4 == 0) body = std::move(any);
      const auto bytes = wire::encode({"s", first ? "a" : "b", std::uint64_t(i), std::move(body)});
      ingest.accept(wire::decode_in_place(bytes), any_time(), Direction::kReceived);
    }
    std::vector<timeline::Shares> screen(50);
    const std::array<Timeline::RankRange, 1> rows{{{0, 20}}};
    timeline.picture(rows, timeline.begin(), timeline.now(), 50, screen);
    for (const timeline::Shares& shares : screen) ASSERT_LE(shares.known(), 1.001f) << "seed " << seed;
  }
}

}  // namespace
}  // namespace idlewave::ingest
