#include "probe/client/lane_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/any_seed.h"
#include "tests/probe/node.h"

namespace idlewave::client {
namespace {

using test::describe;
using test::Segment;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::Event;
using wire::EventKind;
using wire::Phase;

constexpr Phase kUser = static_cast<Phase>(8);

LaneWriter writer_of(const Segment& segment) {
  LaneWriter lane;
  lane.attach(segment.slot(), segment.ring(), segment.header().ring_events, segment.header().clock);
  return lane;
}

TEST(LaneWriter, TellsAProgramAsItRan) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  lane.start();
  lane.step(0);
  lane.switch_to(Phase::kCompute);
  lane.traffic(50'000'000);
  lane.switch_to(Phase::kWait);
  lane.step(1);
  lane.threads(4);
  lane.stop();
  EXPECT_THAT(describe(segment.drain()),
              ElementsAre("start none", "step 0 none", "enter compute", "traffic 50000000 compute", "switch wait",
                          "step 1 wait", "threads 4 wait", "stop none"));
}

TEST(LaneWriter, SaysWithWhomACallWas) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  lane.switch_to(Phase::kWait);
  const wire::CallPartners with{wire::CallPartners::Kind::kFrom, 7};
  lane.switch_to(Phase::kCompute, with);
  lane.switch_to(Phase::kWait);
  lane.step(0);
  lane.switch_with_last(Phase::kCompute, with);
  std::vector<std::uint64_t> said;
  for (const wire::Event& event : segment.drain()) said.push_back(event.value);
  EXPECT_THAT(said, ElementsAre(0, with.value(), 0, 0, with.value()));
}

TEST(LaneWriter, GoesBackToTheOuterPhase) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  lane.begin(Phase::kCompute);
  lane.begin(kUser);
  lane.begin(Phase::kWait);
  lane.end();
  lane.switch_to(Phase::kCommunicate);
  lane.end();
  lane.end();
  EXPECT_THAT(describe(segment.drain()), ElementsAre("enter compute", "enter 8", "enter wait", "leave 8",
                                                     "switch communicate", "leave compute", "leave none"));
}

TEST(LaneWriter, SwitchBeginsAPhaseWhereNoneWas) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  lane.switch_to(Phase::kWait);
  lane.end();
  EXPECT_THAT(describe(segment.drain()), ElementsAre("enter wait", "leave none"));
}

TEST(LaneWriter, IgnoresAnEndWithoutABegin) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  lane.end();
  lane.end();
  EXPECT_THAT(segment.drain(), IsEmpty());
}

TEST(LaneWriter, LeavesOutWhatIsNestedDeeperThanEight) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  for (int i = 0; i < 8; ++i) lane.begin(Phase::kCompute);
  EXPECT_EQ(segment.drain().size(), 8u);
  lane.begin(Phase::kWait);
  lane.switch_to(Phase::kCommunicate);
  lane.end();
  EXPECT_THAT(segment.drain(), IsEmpty());
  lane.switch_to(Phase::kWait);
  lane.end();
  EXPECT_THAT(describe(segment.drain()), ElementsAre("switch wait", "leave compute"));
}

TEST(LaneWriter, KeepsThePhaseThroughAHold) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  lane.begin(Phase::kWait);
  lane.begin_hold(Phase::kDelay, 77);
  lane.end_hold(Phase::kDelay, 77);
  EXPECT_THAT(describe(segment.drain()), ElementsAre("enter wait", "delay_begin 77 delay", "delay_end 77 wait"));
}

TEST(LaneWriter, StampsTrafficWithTheEventBeforeIt) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  lane.begin(Phase::kCompute);
  lane.traffic(1);
  lane.traffic(2);
  const std::vector<Event> events = segment.drain();
  EXPECT_EQ(events[1].time, events[0].time);
  EXPECT_EQ(events[2].time, events[0].time);
}

TEST(LaneWriter, BeginsAPhaseAtTheMomentOfTheStepBeforeIt) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  lane.begin(Phase::kWait);
  lane.step(3);
  lane.switch_with_last(Phase::kCompute);
  const std::vector<Event> events = segment.drain();
  EXPECT_THAT(describe(events), ElementsAre("enter wait", "step 3 wait", "switch compute"));
  EXPECT_EQ(events[2].time, events[1].time);
  EXPECT_EQ(lane.last(), events[2].time);
}

TEST(LaneWriter, CapsValuesThatDoNotFit) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  lane.traffic(UINT64_MAX);
  lane.step(INT64_MAX);
  EXPECT_THAT(describe(segment.drain()), ElementsAre("traffic 281474976710655 none", "step 281474976710655 none"));
}

TEST(LaneWriter, FollowsTheMonotonicClockWithoutACounter) {
  const Segment segment;
  segment.header().clock.use_tsc = 0;
  LaneWriter lane = writer_of(segment);
  const wire::Nanoseconds before = shm::monotonic_now();
  lane.begin(Phase::kCompute);
  const wire::Nanoseconds after = shm::monotonic_now();
  const Event event = segment.drain().at(0);
  EXPECT_LE(before, event.time);
  EXPECT_LE(event.time, after);
}

TEST(Clock, TurnsTicksIntoNanosecondsExactlyAlsoAfterYears) {
  const shm::Clock clock{1, 0, 1000, (std::uint64_t{1} << 32) / 4, 500};  // 4 ticks a nanosecond.
  const std::uint64_t thirty_years = std::uint64_t{4} * 1'000'000'000 * 86400 * 365 * 30;
  EXPECT_EQ(shm::at_counter(clock, 1000).count(), 500);
  EXPECT_EQ(shm::at_counter(clock, 1000 + thirty_years).count(), 500 + static_cast<std::int64_t>(thirty_years / 4));
  EXPECT_EQ(shm::at_counter(clock, 1000 - 400).count(), 400);
}

TEST(Clock, IsQuickToTheNanosecond) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t multiplier = random() >> (31 + random() % 8);  // Up to 2 ns a tick.
    const shm::Clock clock{1, 0, random() >> 1, multiplier, static_cast<std::int64_t>(random() >> 4)};
    const std::uint64_t ticks = random() >> (3 + random() % 50);
    ASSERT_TRUE(shm::QuickClock::can_stand_for(clock));
    const shm::QuickClock quick(clock);
    EXPECT_EQ(quick.at(clock.counter_base + ticks), shm::at_counter(clock, clock.counter_base + ticks));
    EXPECT_EQ(quick.at(clock.counter_base - ticks), shm::at_counter(clock, clock.counter_base - ticks));
  }
}

TEST(Clock, IsNotQuickWithoutACounterOrWithASlowOne) {
  EXPECT_FALSE(shm::QuickClock::can_stand_for({0, 0, 0, 1, 0}));
  EXPECT_FALSE(shm::QuickClock::can_stand_for({1, 0, 0, std::uint64_t{1} << 33, 0}));
}

TEST(LaneWriter, IsPlainWithinWhatItTellsUnlessItIsLookedAfter) {
  const Segment segment;
  LaneWriter lane = writer_of(segment);
  EXPECT_FALSE(lane.is_plain());
  for (int depth = 1; depth <= LaneWriter::kMaxDepth; ++depth) {
    lane.begin(Phase::kCompute);
    EXPECT_EQ(lane.is_plain(), segment.header().clock.use_tsc != 0) << depth;
  }
  lane.begin(Phase::kCompute);
  EXPECT_FALSE(lane.is_plain());
  lane.end();
  EXPECT_EQ(lane.is_plain(), segment.header().clock.use_tsc != 0);
  lane.be_looked_after(true);
  EXPECT_FALSE(lane.is_plain());
  lane.be_looked_after(false);
  EXPECT_EQ(lane.is_plain(), segment.header().clock.use_tsc != 0);
  lane.be_plain_no_more();
  lane.be_looked_after(false);
  EXPECT_FALSE(lane.is_plain());
}

TEST(FullRing, OverwritesNothingAndCounts) {
  const Segment segment(1, 8);
  LaneWriter lane = writer_of(segment);
  lane.start();
  for (int i = 0; i < 20; ++i) lane.step(i);
  EXPECT_EQ(segment.slot().dropped.load(), 15u);
  EXPECT_THAT(describe(segment.drain()),
              ElementsAre("start none", "step 0 none", "step 1 none", "step 2 none", "step 3 none", "step 4 none"));
}

TEST(FullRing, TellsItsLossAheadOfTheNextEventWithThePhaseThatWentOn) {
  const Segment segment(1, 8);
  LaneWriter lane = writer_of(segment);
  for (int i = 0; i < 6; ++i) lane.step(i);
  lane.begin(Phase::kCompute);
  lane.begin(Phase::kWait);
  lane.step(6);
  segment.drain();
  lane.end();
  EXPECT_THAT(describe(segment.drain()), ElementsAre("dropped 3 wait", "leave compute"));
  EXPECT_EQ(segment.slot().dropped.load(), 0u);
  lane.end();
  EXPECT_THAT(describe(segment.drain()), ElementsAre("leave none")) << "told once";
}

TEST(FullRing, KnowsTheDelayThatItsLossFellInto) {
  const Segment segment(1, 8);
  LaneWriter lane = writer_of(segment);
  for (int i = 0; i < 6; ++i) lane.step(i);
  lane.begin_hold(Phase::kDelay, 7);
  segment.drain();
  lane.end_hold(Phase::kDelay, 7);
  EXPECT_THAT(describe(segment.drain()), ElementsAre("dropped 1 delay", "delay_end 7 none"));
}

TEST(FullRing, KeepsRoomForTheLastCountAndTheStop) {
  const Segment segment(1, 8);
  LaneWriter lane = writer_of(segment);
  for (int i = 0; i < 10; ++i) lane.begin(Phase::kCompute), lane.end();
  lane.stop();
  const std::vector<std::string> told = describe(segment.drain());
  ASSERT_EQ(told.size(), 8u);
  EXPECT_EQ(told[6], "dropped 14 none");
  EXPECT_EQ(told[7], "stop none");
}

TEST(FullRing, WaitsForRoomForTwo) {
  const Segment segment(1, 8);
  LaneWriter lane = writer_of(segment);
  for (int i = 0; i < 8; ++i) lane.step(i);
  segment.drain(0, 1);
  lane.step(8);
  segment.drain(0, 1);
  lane.step(9);
  EXPECT_THAT(describe(segment.drain()),
              ElementsAre("step 2 none", "step 3 none", "step 4 none", "step 5 none", "dropped 3 none", "step 9 none"));
}

TEST(Ring, GoesOnWhereItsLastUserStopped) {
  const Segment segment(1, 8);
  LaneWriter first = writer_of(segment);
  for (int i = 0; i < 5; ++i) first.step(i);
  segment.drain();
  LaneWriter second = writer_of(segment);
  for (int i = 0; i < 6; ++i) second.step(i);
  EXPECT_EQ(segment.drain().size(), 6u);
}

/// What the lane should hold, by the words of vocabulary.h and probe.h, with containers and no cleverness.
class Oracle {
 public:
  explicit Oracle(std::size_t ring_events) : room_(ring_events - 2) {}

  void begin(Phase phase) {
    const Phase before = current();
    stack_.push_back(phase);
    if (stack_.size() <= 8) tell("enter", 0, phase, before);
  }
  void end() {
    if (stack_.empty()) return;
    const Phase before = current();
    const bool was_told = stack_.size() <= 8;
    stack_.pop_back();
    if (was_told) tell("leave", 0, current(), before);
  }
  void switch_to(Phase phase) {
    if (stack_.empty()) return begin(phase);
    const Phase before = current();
    if (stack_.size() > 8) return;
    stack_.back() = phase;
    tell("switch", 0, phase, before);
  }
  void value(EventKind kind, std::uint64_t number) {
    tell(kind == EventKind::kStep      ? "step"
         : kind == EventKind::kTraffic ? "traffic"
                                       : "threads",
         number, current(), current());
  }

  std::vector<std::string> drain(std::size_t most) {
    std::vector<std::string> out;
    for (; !ring_.empty() && out.size() < most; ring_.pop_front()) out.push_back(ring_.front());
    return out;
  }

 private:
  Phase current() const { return stack_.empty() ? Phase::kNone : stack_[std::min<std::size_t>(stack_.size(), 8) - 1]; }

  void tell(const std::string& kind, std::uint64_t value, Phase phase, Phase before) {
    const std::size_t needed = dropped_ > 0 ? 2 : 1;
    if (ring_.size() + needed > room_) {
      ++dropped_;
      return;
    }
    if (dropped_ > 0) ring_.push_back(describe(Event{{}, dropped_, EventKind::kDropped, before}));
    dropped_ = 0;
    const bool has_value = value != 0 || kind == "step";
    const std::string phase_word = describe(Event{{}, 0, EventKind::kEnter, phase}).substr(6);
    ring_.push_back(kind + (has_value ? " " + std::to_string(value) : "") + " " + phase_word);
  }

  std::size_t room_;
  std::vector<Phase> stack_;
  std::deque<std::string> ring_;
  std::uint64_t dropped_ = 0;
};

void do_something(std::mt19937_64& random, LaneWriter& lane, Oracle& oracle) {
  const auto phase = static_cast<Phase>(random() % 12);
  const std::uint64_t value = random() % 1000;
  switch (random() % 10) {
    case 0:
    case 1:
    case 2: lane.begin(phase), oracle.begin(phase); break;
    case 3:
    case 4: lane.end(), oracle.end(); break;
    case 5: lane.switch_to(phase), oracle.switch_to(phase); break;
    case 6: lane.step(static_cast<wire::Step>(value)), oracle.value(EventKind::kStep, value); break;
    case 7: lane.switch_with_last(phase), oracle.switch_to(phase); break;
    case 8: lane.traffic(value), oracle.value(EventKind::kTraffic, value); break;
    default: lane.threads(value), oracle.value(EventKind::kThreads, value);
  }
}

TEST(LaneWriter, AgreesWithTheOracleOnRandomPrograms) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int program = 0; program < 300; ++program) {
    const std::uint32_t ring_events = 8u << random() % 4;
    const Segment segment(1, ring_events);
    LaneWriter lane = writer_of(segment);
    Oracle oracle(ring_events);
    wire::Nanoseconds last{};
    for (int round = 0; round < 60; ++round) {
      for (std::uint64_t i = random() % (2 * ring_events); i > 0; --i) do_something(random, lane, oracle);
      const std::size_t most = random() % 2 ? SIZE_MAX : random() % ring_events;
      const std::vector<Event> events = segment.drain(0, most);
      ASSERT_EQ(describe(events), oracle.drain(most)) << "program " << program << ", round " << round;
      for (const Event& event : events) ASSERT_LE(std::exchange(last, event.time), event.time);
    }
  }
}

TEST(LaneWriter, LosesNothingUncountedWhileAnAgentDrains) {
  constexpr std::uint64_t kSteps = 300'000;
  const Segment segment(1, 64);
  std::atomic<bool> done{false};
  std::vector<Event> seen;
  std::thread agent([&] {
    for (bool last = false; !last;) {
      last = done.load();
      for (const Event& event : segment.drain()) seen.push_back(event);
    }
  });
  LaneWriter lane = writer_of(segment);
  for (std::uint64_t i = 0; i < kSteps; ++i) lane.step(static_cast<wire::Step>(i));
  lane.stop();
  done.store(true);
  agent.join();
  std::uint64_t next = 0;
  for (const Event& event : seen) {
    if (event.kind == EventKind::kDropped) next += event.value;
    if (event.kind != EventKind::kStep) continue;
    ASSERT_EQ(event.value, next++);
  }
  EXPECT_EQ(next, kSteps);
  EXPECT_EQ(seen.back().kind, EventKind::kStop);
}

}  // namespace
}  // namespace idlewave::client
