#include "monitor/ingest/ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::ingest {
namespace {

using timeline::Category;
using timeline::enter;
using timeline::LaneState;
using timeline::Loss;
using timeline::LossKind;
using timeline::ms;
using timeline::rank_lane;
using timeline::roster;
using timeline::start;
using timeline::stop;
using timeline::Timeline;
using wire::Direction;
using wire::Event;
using wire::Phase;
using wire::Rank;

using Bytes = std::vector<std::byte>;
using Batches = std::vector<std::pair<wire::LaneId, std::vector<Event>>>;

/// One sender's stream, numbered as an outlet numbers it.
class Sender {
 public:
  explicit Sender(std::string node = "n", std::string session = "s")
      : node_(std::move(node)), session_(std::move(session)) {}

  Bytes frame(decltype(wire::Frame::body) body) {
    return wire::encode({session_, node_, ++sequence_, std::move(body)});
  }
  Bytes events(const Batches& batches, Nanoseconds up_to) {
    std::vector<wire::LaneBatch> borrowed;
    for (const auto& [lane, events] : batches) borrowed.push_back({lane, events});
    wire::Events body{up_to, {}};
    wire::encode_events(borrowed, body.blob);
    return frame(std::move(body));
  }
  Bytes computes(Rank rank, Nanoseconds from, Nanoseconds up_to) {
    return events({{rank_lane(rank), {enter(from, Phase::kCompute)}}}, up_to);
  }
  void lose(std::uint64_t frames) { sequence_ += frames; }
  void begin_again() { sequence_ = 0; }

 private:
  std::string node_;
  std::string session_;
  std::uint64_t sequence_ = 0;
};

class IngestTest : public testing::Test {
 protected:
  void take(const Bytes& bytes) { ingest_.accept(wire::decode_in_place(bytes), Nanoseconds{}, Direction::kReceived); }
  /// Roster of ranks [0, 4) and their starts at 0, told until 10 ms.
  void open() {
    take(sender_.frame(roster(4)));
    Batches starts;
    for (Rank rank = 0; rank < 4; ++rank) starts.push_back({rank_lane(rank), {start(ms(0))}});
    take(sender_.events(starts, ms(10)));
  }
  std::vector<LossKind> losses() const {
    std::vector<LossKind> kinds;
    for (const Loss& loss : timeline_.losses()) kinds.push_back(loss.kind);
    return kinds;
  }

  Timeline timeline_;
  Ingest ingest_{timeline_};
  Sender sender_;
};

TEST_F(IngestTest, FillsLanesFromFrames) {
  open();
  take(sender_.computes(2, ms(20), ms(50)));
  EXPECT_EQ(timeline_.lane(2)->time_in(Category::kCompute, ms(0), ms(100)), ms(30));
  EXPECT_EQ(timeline_.now(), ms(50));
  EXPECT_EQ(ingest_.stats().frames, 3u);
  EXPECT_THAT(losses(), testing::IsEmpty());
}

TEST_F(IngestTest, BeginsAtTheEarliestEventOfTheFirstFrame) {
  take(sender_.frame(roster(4)));
  take(sender_.events({{rank_lane(0), {start(ms(107))}}, {rank_lane(1), {start(ms(100))}}}, ms(110)));
  EXPECT_EQ(timeline_.lane(1)->first(), ms(0));
  EXPECT_EQ(timeline_.lane(0)->first(), ms(7));
}

TEST_F(IngestTest, PlacesAGapAndCountsItsFrames) {
  open();
  sender_.lose(3);
  take(sender_.computes(0, ms(50), ms(60)));
  ASSERT_THAT(losses(), testing::ElementsAre(LossKind::kSequenceGap));
  EXPECT_EQ(timeline_.losses()[0].count, 3u);
  EXPECT_EQ(timeline_.losses()[0].from, ms(10));
  EXPECT_EQ(timeline_.losses()[0].to, ms(60));
  EXPECT_EQ(timeline_.dropped(), 3u);
  EXPECT_EQ(ingest_.stats().missing, 3u);
}

TEST_F(IngestTest, IsNotBlindedByANumberThatNoStreamReaches) {
  open();
  for (const std::uint64_t number : {std::uint64_t(-1), std::uint64_t{1} << 63, std::uint64_t{1} << 41})
    take(wire::encode({ingest_.session(), "n", number, wire::End{}}));
  EXPECT_EQ(ingest_.stats().bad, 3u);
  take(sender_.computes(0, ms(20), ms(30)));
  EXPECT_EQ(timeline_.lane(0)->known_until(), ms(30));
  EXPECT_EQ(ingest_.stats().repeated, 0u);
  EXPECT_EQ(ingest_.stats().missing, 0u);
}

TEST_F(IngestTest, PlacesAGapThatARosterComesAfter) {
  open();
  sender_.lose(3);
  take(sender_.frame(roster(4)));
  take(sender_.computes(0, ms(50), ms(60)));
  ASSERT_THAT(losses(), testing::ElementsAre(LossKind::kSequenceGap));
  EXPECT_EQ(timeline_.losses()[0].count, 3u);
  EXPECT_EQ(timeline_.losses()[0].from, ms(10));
  EXPECT_EQ(timeline_.losses()[0].to, ms(60));
}

TEST_F(IngestTest, DoesNotTakePhasesToLastThroughAGap) {
  open();
  take(sender_.computes(0, ms(10), ms(20)));
  sender_.lose(1);
  take(sender_.computes(1, ms(50), ms(60)));
  EXPECT_EQ(timeline_.lane(0)->known_until(), ms(20));
  take(sender_.events({{rank_lane(0), {enter(ms(70), Phase::kWait)}}}, ms(80)));
  EXPECT_EQ(timeline_.lane(0)->time_in(Category::kCompute, ms(0), ms(80)), ms(10));
}

TEST_F(IngestTest, IgnoresFramesThatCameAlready) {
  open();
  const Bytes frame = sender_.computes(0, ms(20), ms(30));
  take(frame);
  take(frame);
  EXPECT_EQ(timeline_.lane(0)->events(), 2u);
  EXPECT_EQ(ingest_.stats().repeated, 1u);
  EXPECT_EQ(timeline_.dropped(), 0u);
}

TEST_F(IngestTest, SaysThatALateStartIsNotTheWholeRunAndDropsNothing) {
  sender_.lose(99);
  take(sender_.frame(roster(4)));
  take(sender_.computes(0, ms(20), ms(30)));
  ASSERT_THAT(losses(), testing::ElementsAre(LossKind::kBeforeStart));
  EXPECT_EQ(timeline_.losses()[0].count, 99u);
  EXPECT_EQ(timeline_.dropped(), 0u);
}

TEST_F(IngestTest, TellsFramesBeforeALateRecordingFromLostOnes) {
  take(sender_.frame(roster(4)));
  sender_.lose(500);
  take(sender_.computes(0, ms(20), ms(30)));
  EXPECT_THAT(losses(), testing::ElementsAre(LossKind::kBeforeStart));
  EXPECT_EQ(timeline_.dropped(), 0u);
}

TEST_F(IngestTest, FollowsAnAgentThatWasStartedAgain) {
  open();
  take(sender_.computes(0, ms(10), ms(20)));
  sender_.begin_again();
  wire::Roster again = roster(4);
  again.agent_pid = 4711;
  take(sender_.frame(again));
  take(sender_.computes(0, ms(40), ms(50)));
  EXPECT_EQ(timeline_.lane(0)->time_in(Category::kCompute, ms(0), ms(50)), ms(20));
  EXPECT_EQ(ingest_.stats().repeated, 0u);
}

/// A roster of ranks [0, 4) by this agent, made at this time.
wire::Roster roster_by(std::int32_t agent_pid, Nanoseconds at) {
  wire::Roster made = roster(4);
  made.agent_pid = agent_pid;
  made.node_time = at;
  return made;
}

TEST_F(IngestTest, TellsFromWhenToWhenAnAgentThatDiedWasMissed) {
  take(sender_.frame(roster_by(7, ms(0))));
  take(sender_.computes(0, ms(10), ms(20)));
  sender_.begin_again();
  take(sender_.frame(roster_by(8, ms(35))));
  take(sender_.computes(0, ms(40), ms(50)));
  ASSERT_THAT(losses(), testing::ElementsAre(LossKind::kNodeSilent));
  EXPECT_EQ(timeline_.losses()[0].from, ms(10));
  EXPECT_EQ(timeline_.losses()[0].to, ms(25));
}

TEST_F(IngestTest, MissesNothingBetweenTwoProgramsOfASession) {
  take(sender_.frame(roster_by(7, ms(0))));
  take(sender_.events({{rank_lane(0), {start(ms(1)), stop(ms(5))}}}, ms(6)));
  take(sender_.frame(wire::End{}));
  EXPECT_TRUE(timeline_.ended());
  sender_.begin_again();
  take(sender_.frame(roster_by(8, ms(35))));
  EXPECT_FALSE(timeline_.ended());
  take(sender_.events({{rank_lane(0), {start(ms(36)), enter(ms(36), Phase::kCompute), stop(ms(46))}}}, ms(50)));
  take(sender_.frame(wire::End{}));
  EXPECT_TRUE(timeline_.ended());
  EXPECT_THAT(losses(), testing::IsEmpty());
  EXPECT_EQ(timeline_.lane(0)->time_in(Category::kCompute, ms(0), ms(60)), ms(10));
}

TEST_F(IngestTest, TakesASessionThatARelayTellsOnceMoreForWhatItKnows) {
  Sender second;
  std::vector<Bytes> told{sender_.frame(roster_by(7, ms(0)))};
  for (int i = 1; i < 9; ++i) told.push_back(sender_.computes(0, ms(i), ms(i + 1)));
  told.push_back(sender_.frame(wire::End{}));
  told.push_back(second.frame(roster_by(8, ms(35))));
  for (int i = 40; i < 43; ++i) told.push_back(second.computes(0, ms(i), ms(i + 1)));
  for (const Bytes& bytes : told) take(bytes);
  const std::uint64_t events = timeline_.events();
  for (const Bytes& bytes : told) take(bytes);
  EXPECT_EQ(timeline_.events(), events);
  EXPECT_EQ(ingest_.stats().repeated, told.size());
  EXPECT_THAT(losses(), testing::IsEmpty());
  take(second.frame(wire::End{}));
  EXPECT_TRUE(timeline_.ended());
}

TEST_F(IngestTest, NamesTheRankThatASecondNodeClaims) {
  open();
  wire::Roster other = roster(2, 5, 5);
  take(wire::encode({"s", "another", 1, other}));
  ASSERT_THAT(losses(), testing::ElementsAre(LossKind::kUnreadable));  // What it tells is missing.
  EXPECT_EQ(timeline_.losses()[0].detail, "roster of node \"another\" claims rank 2, which node \"n\" has: left out");
  take(sender_.computes(0, ms(20), ms(30)));
  EXPECT_EQ(timeline_.lane(0)->events(), 2u);
}

TEST_F(IngestTest, IsNotBlindedByANumberFarAhead) {
  open();
  take(wire::encode({"s", "n", ~std::uint64_t{0}, wire::Events{ms(10), {}}}));
  take(sender_.computes(0, ms(20), ms(30)));
  EXPECT_EQ(timeline_.lane(0)->events(), 2u);
  EXPECT_EQ(ingest_.stats().missing, 0u);
}

TEST_F(IngestTest, CountsEventsBeforeAnyRosterAsStrangers) {
  take(sender_.computes(0, ms(20), ms(30)));
  EXPECT_THAT(losses(), testing::ElementsAre(LossKind::kStranger));
  EXPECT_TRUE(timeline_.empty());
}

TEST_F(IngestTest, CountsEventsOfRanksBeyondTheRosterAsStrangers) {
  open();
  take(sender_.computes(4, ms(20), ms(30)));
  take(sender_.computes(1 << 30, ms(20), ms(30)));
  EXPECT_THAT(losses(), testing::ElementsAre(LossKind::kStranger, LossKind::kStranger));
}

TEST_F(IngestTest, SaysWhyAFrameIsBad) {
  open();
  Bytes newer = sender_.frame(roster(4));
  const auto version = std::find(newer.begin(), newer.end(), std::byte{'v'}) + 1;
  *version = std::byte{9};
  take(newer);
  ASSERT_THAT(losses(), testing::ElementsAre(LossKind::kBadFrame));
  EXPECT_THAT(timeline_.losses()[0].detail, testing::HasSubstr("version 9"));
}

TEST_F(IngestTest, TellsWhomTheMonitorTurnedAwayThoughNothingIsMissing) {
  open();
  const wire::Frame refusal{ingest_.session(), "n", 0, wire::Refusal{"this node reports over another connection"}};
  ingest_.accept(wire::decode_in_place(wire::encode(refusal)), ms(50), Direction::kSent);
  ASSERT_THAT(losses(), testing::ElementsAre(LossKind::kTurnedAway));
  EXPECT_EQ(timeline_.losses()[0].node, "n");
  EXPECT_EQ(timeline_.losses()[0].detail, "this node reports over another connection");
  EXPECT_FALSE(timeline::is_hole(LossKind::kTurnedAway));
  EXPECT_EQ(ingest_.stats().bad, 0u);
}

TEST_F(IngestTest, IsNotToldWhomToTurnAwayBySenders) {
  open();
  const wire::Frame refusal{ingest_.session(), "n", 0, wire::Refusal{"go away"}};
  take(wire::encode(refusal));
  EXPECT_THAT(losses(), testing::IsEmpty());
}

TEST_F(IngestTest, LeavesOutFramesOfAnotherSession) {
  open();
  Sender other("n", "other");
  take(other.frame(roster(400)));
  EXPECT_EQ(timeline_.ranks(), 4);
  EXPECT_EQ(ingest_.stats().foreign, 1u);
  EXPECT_THAT(timeline_.losses()[0].detail, testing::HasSubstr("other"));
}

TEST_F(IngestTest, TakesTheSessionItWasGivenAndNotTheFirstThatComes) {
  Ingest given(timeline_, "wanted");
  given.accept(wire::decode_in_place(sender_.frame(roster(4))), Nanoseconds{}, Direction::kReceived);
  EXPECT_EQ(timeline_.ranks(), 0);
}

TEST_F(IngestTest, RefusesARosterThatTakesARankFromAnotherNode) {
  open();
  Sender thief("thief");
  take(thief.frame(roster(3, 8, 8)));
  EXPECT_EQ(timeline_.ranks(), 4);
  EXPECT_EQ(ingest_.stats().bad, 1u);
  take(thief.computes(3, ms(20), ms(30)));
  EXPECT_EQ(timeline_.lane(3)->events(), 1u);
}

TEST_F(IngestTest, ShowsARankThatDied) {
  open();
  take(sender_.events({{rank_lane(1), {timeline::lost(ms(15))}}}, ms(90)));
  EXPECT_EQ(timeline_.lane(1)->state(), LaneState::kLost);
  EXPECT_EQ(timeline_.lane(1)->known_until(), ms(15));
  EXPECT_THAT(losses(), testing::ElementsAre(LossKind::kRankLost));
  EXPECT_EQ(timeline_.dropped(), 0u);
}

TEST_F(IngestTest, InterruptsLanesWhereABlobIsDamaged) {
  open();
  take(sender_.computes(0, ms(10), ms(20)));
  take(sender_.frame(wire::Events{ms(60), Bytes(7, std::byte{0xff})}));
  ASSERT_THAT(losses(), testing::ElementsAre(LossKind::kUnreadable));
  EXPECT_EQ(timeline_.losses()[0].from, ms(20));
  EXPECT_EQ(timeline_.losses()[0].to, ms(60));
  EXPECT_EQ(timeline_.lane(0)->known_until(), ms(20));
  EXPECT_EQ(timeline_.now(), ms(60));
}

TEST_F(IngestTest, AlignsTheClocksOfTwoMachinesByTheirWallClocks) {
  Sender second("m");
  wire::Roster of_first = roster(0, 10, 20);
  of_first.agent_pid = 1;
  of_first.node_time = ms(1000);
  of_first.unix_time_ns = ms(50'000).count();
  wire::Roster of_second = roster(10, 20, 20);
  of_second.agent_pid = 1;
  of_second.node_time = ms(900'000);
  of_second.unix_time_ns = ms(50'500).count();
  take(sender_.frame(of_first));
  take(second.frame(of_second));
  take(sender_.events({{rank_lane(0), {start(ms(1000))}}}, ms(2000)));
  take(second.events({{rank_lane(10), {start(ms(900'000))}}}, ms(900'600)));
  EXPECT_EQ(timeline_.lane(10)->first(), ms(500));
  EXPECT_EQ(timeline_.now(), ms(1000));
}

TEST_F(IngestTest, LeavesClocksAloneThatAreOneClock) {
  Sender second("m");
  wire::Roster of_first = roster(0, 10, 20);
  wire::Roster of_second = roster(10, 20, 20);
  of_first.agent_pid = of_second.agent_pid = 1;
  of_second.node_time = std::chrono::microseconds(300);
  take(sender_.frame(of_first));
  take(second.frame(of_second));
  take(sender_.events({{rank_lane(0), {start(ms(5))}}}, ms(6)));
  take(second.events({{rank_lane(10), {start(ms(5))}}}, ms(6)));
  EXPECT_EQ(timeline_.lane(10)->first(), ms(0));
}

TEST_F(IngestTest, SurvivesClocksAtTheEndsOfTheirRange) {
  constexpr Nanoseconds kEnds[] = {Nanoseconds::max(), Nanoseconds::min()};
  for (const int end : {0, 1}) {
    Sender sender(end == 0 ? "n" : "m");
    wire::Roster extreme = roster(0);
    extreme.agent_pid = 1;
    extreme.node_time = kEnds[end];
    extreme.unix_time_ns = kEnds[1 - end].count();
    take(sender.frame(extreme));
    take(sender.events({}, kEnds[end]));
    sender.lose(5);
    take(sender.events({}, kEnds[1 - end]));
  }
  EXPECT_EQ(timeline_.now(), ms(0));
}

TEST_F(IngestTest, RemembersTheCommandsThatWereSent) {
  open();
  const wire::Command command{5, {2}, wire::DelayOrder{ms(250)}};
  ingest_.accept(wire::decode_in_place(wire::encode({"s", "", 0, command})), Nanoseconds{}, Direction::kSent);
  take(sender_.frame(wire::Outcome{command, ms(12), true, ""}));
  ASSERT_EQ(timeline_.commands().size(), 1u);
  EXPECT_EQ(timeline_.commands()[0].sent, ms(10));
  EXPECT_TRUE(timeline_.commands()[0].accepted);
}

/// The last frame came some time ago; the clocks of files may be anything.
TEST_F(IngestTest, PlacesACommandBehindWhatWasToldByTheTimeSinceThen) {
  open();
  wire::CommandId id = 1;
  const auto sent_at = [&](Nanoseconds received_at) {
    const wire::Command command{id, {2}, wire::DelayOrder{ms(250)}};
    ingest_.accept(wire::decode_in_place(wire::encode({"s", "", 0, command})), received_at, Direction::kSent);
    take(sender_.frame(wire::Outcome{{id++, {2}, wire::DelayOrder{ms(250)}}, ms(12), true, ""}));
    return timeline_.commands().back().sent;
  };
  EXPECT_EQ(sent_at(ms(0)), ms(10));
  EXPECT_EQ(sent_at(ms(234)), ms(244));
  EXPECT_EQ(sent_at(-ms(5)), ms(10));
  EXPECT_EQ(sent_at(Nanoseconds::min()), ms(10));
  EXPECT_EQ(sent_at(Nanoseconds::max()), ms(10) + wire::kLongestHold);
}

TEST_F(IngestTest, EndsWithTheStream) {
  open();
  EXPECT_FALSE(timeline_.ended());
  take(sender_.frame(wire::End{}));
  EXPECT_TRUE(timeline_.ended());
}

/// Frames of a small session.
std::vector<Bytes> some_frames() {
  Sender sender;
  std::vector<Bytes> frames{sender.frame(roster(4))};
  for (int i = 0; i < 20; ++i) frames.push_back(sender.computes(Rank(i % 4), ms(i), ms(i + 1)));
  frames.push_back(sender.frame(wire::Outcome{{3, {1}, wire::NoiseOrder{}}, ms(3), true, ""}));
  frames.push_back(sender.frame(wire::End{}));
  return frames;
}

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

// --- one clock for all who watch ---

/// What a node tells of a session with a delay, from its own clock: rosters say when the session began.
class ToldSession {
 public:
  explicit ToldSession(std::mt19937_64& random) : random_(random), clock_(ms(std::int64_t(random() % 1'000'000'000))) {
    Nanoseconds at = clock_;
    began_ = at;
    roster(at);
    events({{rank_lane(0), {start(at)}}, {rank_lane(1), {start(at + ms(3))}}}, at + ms(4));
    const std::uint64_t steps = 60, held = 50 + random() % 8;
    for (std::uint64_t step = 0; step < steps; ++step) {
      at += ms(20);
      std::vector<Event> lived{timeline::step(at, step, Phase::kCompute)};
      if (step == held) {
        lived.push_back({at + ms(1), 7, wire::EventKind::kDelayBegin, Phase::kDelay});
        lived.push_back({at + ms(9), 7, wire::EventKind::kDelayEnd, Phase::kCompute});
      }
      lived.push_back(enter(at + ms(15), Phase::kWait));
      events({{rank_lane(0), lived}, {rank_lane(1), {timeline::step(at, step, Phase::kWait)}}}, at + ms(16));
    }
  }

  std::size_t frames() const { return bodies_.size(); }
  Nanoseconds clock() const { return clock_; }
  /// As a listener hears it who comes when frame `first` follows: the latest roster, then what follows.
  std::vector<Bytes> heard_from(std::size_t first, std::optional<Nanoseconds> said) const {
    wire::Roster roster = std::get<wire::Roster>(bodies_.front());
    roster.began = said;
    std::vector<Bytes> heard{wire::encode({"s", "n", first, roster})};
    for (std::size_t i = first; i < bodies_.size(); ++i)
      heard.push_back(wire::encode({"s", "n", std::uint64_t(i + 1), bodies_[i]}));
    return heard;
  }
  std::vector<Bytes> heard_from(std::size_t first) const { return heard_from(first, began_); }

 private:
  void roster(Nanoseconds at) {
    wire::Roster made = timeline::roster(2);
    made.agent_pid = 7;
    made.node_time = at;
    made.unix_time_ns = 1'700'000'000'000'000'000 + std::int64_t(random_() % 1'000'000'000'000);
    bodies_.emplace_back(made);
  }
  void events(const Batches& batches, Nanoseconds up_to) {
    std::vector<wire::LaneBatch> borrowed;
    for (const auto& [lane, events] : batches) borrowed.push_back({lane, events});
    wire::Events body{up_to, {}};
    wire::encode_events(borrowed, body.blob);
    bodies_.emplace_back(std::move(body));
  }

  std::mt19937_64& random_;
  Nanoseconds clock_;  ///< Of the node, when the session began.
  Nanoseconds began_{};
  std::vector<decltype(wire::Frame::body)> bodies_;
};

/// One who listens.
struct Listener {
  explicit Listener(const std::vector<Bytes>& heard) {
    for (const Bytes& bytes : heard) take(bytes);
  }
  void take(const Bytes& bytes) { ingest.accept(wire::decode_in_place(bytes), Nanoseconds{}, Direction::kReceived); }
  Nanoseconds delay_began() const { return timeline.delays().at(0).begin; }

  Timeline timeline;
  Ingest ingest{timeline};
};

TEST(OneClock, IsReadByAllWheneverTheyJoined) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const ToldSession session(random);
    const Listener whole(session.heard_from(1));
    EXPECT_EQ(whole.timeline.begin(), ms(0));
    EXPECT_THAT(whole.timeline.losses(), testing::IsEmpty());
    for (int each = 0; each < 5; ++each) {
      const auto first = 2 + random() % 48;
      const Listener late(session.heard_from(first));
      EXPECT_EQ(late.delay_began(), whole.delay_began());
      EXPECT_EQ(late.timeline.now(), whole.timeline.now());
      EXPECT_EQ(late.timeline.begin(), ms(20) * std::int64_t(first - 1));
      const Nanoseconds from = late.timeline.begin(), to = whole.timeline.now();
      EXPECT_EQ(late.timeline.lane(0)->times(from, to), whole.timeline.lane(0)->times(from, to));
      EXPECT_EQ(late.timeline.lane(0)->times(ms(0), from), timeline::Times{}) << "what nobody saw is nothing";
    }
  }
}

TEST(OneClock, SaysFromWhenToWhenNobodyListened) {
  std::mt19937_64 random(7);
  const ToldSession session(random);
  const Listener late(session.heard_from(31));
  ASSERT_EQ(late.timeline.losses().size(), 1u);
  const Loss& loss = late.timeline.losses()[0];
  EXPECT_EQ(loss.kind, LossKind::kBeforeStart);
  EXPECT_EQ(loss.count, 30u);
  EXPECT_EQ(loss.from, ms(0));
  EXPECT_EQ(loss.to, ms(600));
}

TEST(OneClock, BeginsWithTheFirstEventWhereNobodySaysMore) {
  std::mt19937_64 random(7);
  const ToldSession session(random);
  const Listener late(session.heard_from(31, std::nullopt));
  EXPECT_EQ(late.timeline.begin(), ms(0));
  ASSERT_EQ(late.timeline.losses().size(), 1u);
  EXPECT_EQ(late.timeline.losses()[0].to, ms(0));
}

TEST(OneClock, IsNotMovedByAWordThatCanNotBe) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  const ToldSession session(random);
  const Nanoseconds clock = session.clock();
  for (const Nanoseconds said : {clock + Nanoseconds(1), clock + ms(3'600'000), Nanoseconds::max(), Nanoseconds::min(),
                                 clock - Nanoseconds(std::int64_t{1} << 58)}) {
    const Listener late(session.heard_from(31, said));
    EXPECT_EQ(late.timeline.begin(), ms(0)) << said.count() << ", seed " << seed;
    EXPECT_EQ(late.timeline.losses().size(), 1u);
  }
}

TEST(OneClock, IsTheFirstWordWhoeverSaysAnother) {
  std::mt19937_64 random(7);
  const ToldSession session(random);
  Listener listener(session.heard_from(31));
  const Nanoseconds delay = listener.delay_began(), now = listener.timeline.now();
  wire::Roster other = roster(2, 4, 4);
  other.agent_pid = 8;
  other.node_time = session.clock() + ms(2000);
  other.unix_time_ns = 1'700'000'000'000'000'000;
  other.began = session.clock() - ms(5000);
  listener.take(wire::encode({"s", "another", 1, other}));
  wire::Roster same = roster(2);
  same.agent_pid = 7;
  same.node_time = session.clock() + ms(3000);
  same.began = session.clock() + ms(700);
  listener.take(wire::encode({"s", "n", session.frames() + 1, same}));
  EXPECT_EQ(listener.delay_began(), delay);
  EXPECT_EQ(listener.timeline.now(), now);
}

/// What nodes say of one moment, each by its own clock.
TEST(OneClock, IsTheSameByTheClockOfEachNode) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    constexpr std::int64_t kWall = 1'700'000'000'000'000'000;
    const Nanoseconds clocks[] = {ms(std::int64_t(random() % 1'000'000'000)),
                                  ms(std::int64_t(random() % 1'000'000'000))};
    const auto told_by = [&](int node) {
      wire::Roster made = roster(Rank(2 * node), Rank(2 * node + 2), 4);
      made.agent_pid = 7 + node;
      made.node_time = clocks[node] + ms(40'000);
      made.unix_time_ns = kWall + 40'000'000'000;
      made.began = clocks[node];
      const std::vector<Event> lived{start(clocks[node] + ms(41'000)), enter(clocks[node] + ms(42'000), Phase::kWait)};
      const std::array<wire::LaneBatch, 1> batches{{{rank_lane(Rank(2 * node)), lived}}};
      wire::Events body{clocks[node] + ms(43'000), {}};
      wire::encode_events(batches, body.blob);
      const std::string name = "n" + std::to_string(node);
      return std::vector{wire::encode({"s", name, 91, made}), wire::encode({"s", name, 92, body})};
    };
    for (const bool turned : {false, true}) {
      Listener listener(told_by(turned ? 1 : 0));
      for (const Bytes& bytes : told_by(turned ? 0 : 1)) listener.take(bytes);
      for (const Rank rank : {0, 2}) {
        EXPECT_EQ(listener.timeline.lane(rank)->first(), ms(41'000)) << "seed " << seed;
        EXPECT_EQ(listener.timeline.lane(rank)->last(), ms(42'000)) << "seed " << seed;
      }
    }
  }
}

TEST(IngestOfAReplay, TellsTheSameAsTheSession) {
  Timeline live, replayed;
  Ingest from_live(live), from_recording(replayed);
  std::int64_t at = 0;
  for (const Bytes& bytes : some_frames()) {
    from_live.accept(wire::decode_in_place(bytes), Nanoseconds(at += 977), Direction::kReceived);
    from_recording.accept(wire::decode_in_place(bytes), Nanoseconds{}, Direction::kReceived);
  }
  EXPECT_EQ(live.events(), replayed.events());
  EXPECT_EQ(live.now(), replayed.now());
  for (Rank rank = 0; rank < 4; ++rank)
    EXPECT_EQ(live.lane(rank)->time_in(Category::kCompute, ms(0), ms(99)),
              replayed.lane(rank)->time_in(Category::kCompute, ms(0), ms(99)));
}

}  // namespace
}  // namespace idlewave::ingest
