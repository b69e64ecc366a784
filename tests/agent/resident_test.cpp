// A rank as its agent sees it in the shared memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "probe/shm/clock.h"
#include "tests/agent/parts.h"
#include "tests/any_seed.h"

namespace idlewave::agent {
namespace {

using wire::Event;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;

std::vector<Event> drain(Ranks& ranks) {
  Names names;
  EventFrames frames;
  std::vector<Event> read;
  EXPECT_TRUE(ranks.resident().drain(ranks.resident().published(), names, frames, read));
  return decode(frames.take(ns(0)));
}

TEST(Resident, ReadsARingThatHasTurnedAround) {
  Ranks ranks(1, 1, 1000 * 64 + 60);
  for (int i = 0; i < 10; ++i)
    ranks.at((60 + std::uint64_t(i)) % 64) = {ns(i), std::uint64_t(i), EventKind::kStep, Phase::kNone};
  ranks.slot().head += 10;
  const auto events = drain(ranks);
  ASSERT_EQ(events.size(), 10u);
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].value, i);
  EXPECT_EQ(ranks.slot().tail, ranks.slot().head);
}

/// What the thread in that place has told.
std::vector<Event> drain_thread(Ranks& ranks, std::uint32_t place) {
  Names names;
  EventFrames frames;
  std::vector<Event> read;
  Resident& resident = ranks.resident();
  EXPECT_TRUE(resident.drain_thread(place, resident.published(place), names, frames, read));
  resident.catch_up_thread(place, Nanoseconds::max(), names, frames, read);
  const wire::Events frame = frames.take(ns(0));
  return frame.threads.empty() ? std::vector<Event>() : decode(frame.threads);
}

TEST(Resident, ReadsItsThreadsAndMakesRoomForOthers) {
  Ranks ranks(1, 1);
  EXPECT_EQ(ranks.resident().thread_places(), 0u);
  ranks.slot().thread_places = 9'999;
  EXPECT_EQ(ranks.resident().thread_places(), shm::kThreadPlaces) << "the rank may write anything";
  shm::ThreadPlace& place = ranks.slot().threads[3];
  place.state = shm::SlotState::kLive;
  ranks.thread_at(3, 0) = {ns(5), 0, EventKind::kStart, Phase::kNone};
  ranks.thread_at(3, 1) = {ns(7), 0, EventKind::kEnter, Phase::kWait};
  place.head = 2;
  EXPECT_EQ(drain_thread(ranks, 3).size(), 2u);
  EXPECT_EQ(place.state, shm::SlotState::kLive);
  place.state = shm::SlotState::kStopped;
  ranks.thread_at(3, 2) = {ns(9), 0, EventKind::kStop, Phase::kNone};
  place.head = 3;
  EXPECT_EQ(drain_thread(ranks, 3).size(), 1u);
  EXPECT_EQ(place.state, shm::SlotState::kFree);
  EXPECT_EQ(place.tail, 3u);
}

TEST(Resident, ReadsWhatTwoThreadsHaveWrittenOneAfterTheOther) {
  Ranks ranks(1, 1);
  shm::ThreadPlace& place = ranks.slot().threads[0];
  ranks.thread_at(0, 0) = {ns(5), 0, EventKind::kStart, Phase::kNone};
  ranks.thread_at(0, 1) = {ns(7), 0, EventKind::kStop, Phase::kNone};
  ranks.thread_at(0, 2) = {ns(8), 0, EventKind::kStart, Phase::kNone};
  place.head = 3;
  place.state = shm::SlotState::kLive;
  EXPECT_EQ(drain_thread(ranks, 0).size(), 3u);
  EXPECT_EQ(place.state, shm::SlotState::kLive);
}

TEST(Resident, EndsItsThreadsWhenItsProcessIsGone) {
  Ranks ranks(1, 1);
  ranks.slot().threads[0].state = shm::SlotState::kLive;
  ranks.thread_at(0, 0) = {ns(5), 0, EventKind::kEnter, Phase::kWait};
  ranks.slot().threads[0].head = 1;
  ranks.slot().threads[0].dropped = 4;
  Names names;
  EventFrames frames;
  std::vector<Event> read;
  ranks.resident().drain_thread(0, 1, names, frames, read);
  ranks.resident().note_process_end(ns(70));
  ranks.resident().append_end(ns(80), frames, read);
  const auto events = decode(frames.take(ns(0)).threads);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1], (Event{ns(70), 4, EventKind::kDropped, Phase::kNone}));
  EXPECT_EQ(events[2], (Event{ns(70), 0, EventKind::kStop, Phase::kNone}))
      << "the rank is lost, and a thread of it ends";
}

TEST(Resident, TellsARingWhosePositionsCantBeAsALoss) {
  Ranks ranks(1, 1);
  ranks.slot().head = 1'000'000'000;
  const auto events = drain(ranks);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kDropped);
  EXPECT_TRUE(drain(ranks).empty());
}

TEST(Resident, NeverPassesOnWhatNoRankMaySay) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Ranks ranks(1, 1);
  for (std::uint64_t i = 0; i < 64; ++i) {
    const std::uint64_t words[2] = {random(), random()};
    std::memcpy(static_cast<void*>(&ranks.at(i)), words, sizeof words);
    if (i % 4 == 0) ranks.at(i) = {ns(std::int64_t(i)), 0, EventKind::kEnter, Phase::kWait};
  }
  ranks.slot().head = 64;
  const Nanoseconds began = shm::now({});
  const std::vector<Event> passed_on = drain(ranks);
  EXPECT_GE(passed_on.size(), 16u) << "of events that a rank may tell";
  for (const Event& event : passed_on) {
    EXPECT_LT(std::uint8_t(event.kind), wire::kEventKindLimit);
    EXPECT_LT(std::uint8_t(event.phase), wire::kPhaseLimit);
    EXPECT_NE(event.kind, EventKind::kBandwidth);
    EXPECT_NE(event.kind, EventKind::kLost);
    EXPECT_LE(event.time, began + std::chrono::minutes(1));
  }
}

TEST(Resident, ATimeOfCenturiesAgoDoesNotOverflowWhatIsReckonedWithIt) {
  Ranks ranks(1, 1);
  Names names;
  EventFrames frames;
  std::vector<Event> read;
  ranks.at(0) = {ns(std::numeric_limits<std::int64_t>::min()), 0, EventKind::kSwitch, Phase::kCompute};
  ranks.slot().head = 1;
  ASSERT_TRUE(ranks.resident().drain(ranks.resident().published(), names, frames, read));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].time, ns(0));
}

TEST(Resident, TellsEventsThatADeadRankCouldNotTellAsDropped) {
  Ranks ranks(1, 1);
  ranks.slot().dropped = 12;
  EventFrames frames;
  std::vector<Event> read;
  ranks.resident().append_end(ns(5), frames, read);
  const auto events = decode(frames.take(ns(0)));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::kDropped);
  EXPECT_EQ(events[0].value, 12u);
  EXPECT_EQ(events[1].kind, EventKind::kLost);
}

TEST(Resident, IsNotLostAfterItSaidStop) {
  Ranks ranks(1, 1);
  ranks.at(0) = {ns(1), 0, EventKind::kStop, Phase::kNone};
  ranks.slot().head = 1;
  drain(ranks);
  EventFrames frames;
  std::vector<Event> read;
  ranks.resident().append_end(ns(5), frames, read);
  EXPECT_TRUE(frames.empty());
}

TEST(Segment, RefusesWhatTheMachineCantHold) { EXPECT_FALSE(Segment::make(1u << 20, 1u << 31, {})); }

}  // namespace
}  // namespace idlewave::agent
