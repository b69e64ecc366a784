// Events of many lanes on their way into frames.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/agent/parts.h"

namespace idlewave::agent {
namespace {

using wire::Event;
using wire::EventKind;
using wire::LaneId;
using wire::Nanoseconds;
using wire::Phase;

Event event_at(std::int64_t time) { return {ns(time), 0, EventKind::kSwitch, Phase::kCompute}; }

TEST(EventFrames, KnowTheirEarliestEvent) {
  EventFrames frames;
  EXPECT_EQ(frames.earliest(), std::nullopt);
  Nanoseconds last{}, other{};
  frames.append({LaneId::Kind::kRank, 3}, last, event_at(70));
  frames.append({LaneId::Kind::kRank, 1}, other, event_at(50));
  frames.append({LaneId::Kind::kRank, 3}, last, event_at(80));
  EXPECT_EQ(frames.earliest(), ns(50));
  frames.take(ns(90));
  EXPECT_EQ(frames.earliest(), std::nullopt);
}

/// That the blob has one event, of that lane.
void expect_only(const std::vector<std::byte>& blob, LaneId lane, const Event& event) {
  wire::EventDecoder decoder;
  const auto batches = decoder.decode(blob);
  ASSERT_TRUE(batches);
  ASSERT_EQ(batches->size(), 1u);
  EXPECT_EQ(batches->front().lane, lane);
  EXPECT_THAT(batches->front().events, testing::ElementsAre(event));
}

TEST(EventFrames, TellThreadsAndMetersApartFromRanksAndDomains) {
  EventFrames frames;
  Nanoseconds last{}, of_thread{}, of_meter{};
  const LaneId thread = wire::lane_of({7, 2}), meter{LaneId::Kind::kDomain, 3};
  frames.append_meter(meter.index, of_meter, event_at(40));
  EXPECT_EQ(frames.earliest(), ns(40));
  EXPECT_FALSE(frames.empty());
  frames.append(thread, of_thread, event_at(30));
  EXPECT_EQ(frames.earliest(), ns(30));
  frames.append({LaneId::Kind::kRank, 7}, last, event_at(50));
  const wire::Events frame = frames.take(ns(60));
  EXPECT_EQ(decode(frame).at(0), event_at(50));
  expect_only(frame.threads, thread, event_at(30));
  expect_only(frame.meters, meter, event_at(40));
  const wire::Events next = frames.take(ns(70));
  EXPECT_TRUE(next.threads.empty() && next.meters.empty());
}

TEST(EventFrames, NeverSendAnEventOlderThanTheyPromised) {
  EventFrames frames;
  Nanoseconds last{};
  frames.append({}, last, event_at(50));
  EXPECT_EQ(frames.take(ns(100)).up_to, ns(100));
  frames.append({}, last, event_at(99));  // published late
  frames.append({}, last, event_at(120));
  const auto events = decode(frames.take(ns(200)));
  EXPECT_EQ(events.at(0).time, ns(100));
  EXPECT_EQ(events.at(1).time, ns(120));
}

TEST(EventFrames, NeverPromiseLessThanBefore) {
  EventFrames frames;
  EXPECT_EQ(frames.take(ns(100)).up_to, ns(100));
  EXPECT_EQ(frames.take(ns(90)).up_to, ns(100));
}

TEST(EventFrames, KeepTheOrderOfALane) {
  EventFrames frames;
  Nanoseconds last{};
  for (const int time : {10, 30, 20}) frames.append({}, last, event_at(time));
  const auto events = decode(frames.take(ns(0)));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[2].time, ns(30));
}

TEST(EventFrames, StayBelowAMegabyteWhateverIsInThem) {
  EventFrames frames;
  std::mt19937_64 random(1);
  std::map<int, Nanoseconds> last;
  for (std::uint64_t more = LaneReader::kAtOnce; !frames.full() || more > 0; more -= frames.full()) {
    const int lane = int(random() % 100'000);
    const Event wild{ns(std::int64_t(random() >> 2)), random() & wire::kMaxEventValue, EventKind(random() % 11),
                     Phase(random() % 64)};
    frames.append({LaneId::Kind::kRank, lane}, last[lane], wild);
  }
  EXPECT_LT(frames.take(ns(0)).blob.size(), 1u << 20);
}

}  // namespace
}  // namespace idlewave::agent
