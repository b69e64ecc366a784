#include "monitor/ingest/ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ingest/sender.h"
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
using wire::Phase;
using wire::Rank;

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

TEST_F(IngestTest, FillsTheLanesOfThreads) {
  open();
  const wire::LaneId lane = wire::lane_of({2, 5});
  take(sender_.threads({{lane, {start(ms(11)), enter(ms(12), Phase::kWait), stop(ms(17))}}}, ms(20)));
  EXPECT_EQ(timeline_.threads(2), 5);
  EXPECT_EQ(timeline_.lane({2, 4}), nullptr);
  ASSERT_NE(timeline_.lane({2, 5}), nullptr);
  EXPECT_EQ(timeline_.lane({2, 5})->time_in(timeline::Category::kWait, ms(0), ms(20)), ms(5));
  EXPECT_THAT(losses(), testing::IsEmpty());
}

TEST_F(IngestTest, DoesNotTakeThreadsOfARankThatNobodyAnnounced) {
  open();
  take(sender_.threads({{wire::lane_of({9, 1}), {start(ms(11))}}, {rank_lane(1), {start(ms(12))}}}, ms(20)));
  EXPECT_THAT(losses(), testing::ElementsAre(LossKind::kStranger, LossKind::kStranger))
      << "a rank's lane is no thread's";
  EXPECT_EQ(timeline_.threads(1), 0);
  take(sender_.frame(wire::Events{.up_to = ms(30), .blob = {}, .threads = Bytes(7, std::byte{0xff})}));
  EXPECT_EQ(ingest_.stats().bad, 2u);
}

TEST_F(IngestTest, FillsTheLanesOfMeters) {
  wire::Roster announced = roster(4);
  announced.meters = {{0, "package power", "W", "RAPL"}, {0, "DRAM power", "W", "RAPL"}};
  take(sender_.frame(announced));
  const auto meter = [](std::int32_t place) { return timeline::domain_lane(place); };
  using timeline::bandwidth;
  take(sender_.meters(
      {{meter(0), {start(ms(1)), bandwidth(ms(3), 500)}}, {meter(1), {start(ms(2)), bandwidth(ms(4), 70)}}}, ms(5)));
  ASSERT_THAT(timeline_.domains().at(0).meters, testing::ElementsAre(0, 1));
  EXPECT_EQ(timeline_.meters()[1].info.name, "DRAM power");
  ASSERT_EQ(timeline_.meter_samples(1).size(), 1u);
  EXPECT_EQ(timeline_.meter_samples(1)[0].amount, 70u);
  EXPECT_EQ(timeline_.meter_samples(1)[0].end - timeline_.meter_samples(1)[0].begin, ms(2));
  EXPECT_TRUE(timeline_.samples(0).empty()) << "that is no bandwidth";
  EXPECT_THAT(losses(), testing::IsEmpty());
}

TEST_F(IngestTest, DoesNotTakeMetersThatNobodyAnnounced) {
  wire::Roster announced = roster(4);
  announced.meters = {{0, "package power", "W", "RAPL"}};
  take(sender_.frame(announced));
  take(sender_.meters({{timeline::domain_lane(1), {start(ms(1))}}, {rank_lane(0), {start(ms(1))}}}, ms(5)));
  EXPECT_THAT(losses(), testing::ElementsAre(LossKind::kStranger, LossKind::kStranger));
  announced.meters.push_back({7, "package power", "W", "RAPL"});
  take(sender_.frame(announced));
  EXPECT_THAT(losses(), testing::Contains(LossKind::kUnreadable)) << "of a domain that there is not";
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

/// Of agent 8, which took the place of agent `before`.
wire::Roster roster_of_heir(std::int32_t before, std::uint64_t last_frame, Nanoseconds at) {
  wire::Roster made = roster_by(8, at);
  made.taken_over = wire::TakenOver{before, last_frame};
  return made;
}

TEST_F(IngestTest, MissesNothingOfAnAgentThatDiedWhereAllHasComeThatWasInNoRing) {
  take(sender_.frame(roster_by(7, ms(0))));
  take(sender_.computes(0, ms(10), ms(20)));
  sender_.begin_again();
  take(sender_.frame(roster_of_heir(7, 2, ms(35))));
  take(sender_.events({{rank_lane(0), {stop(ms(30))}}}, ms(40)));
  EXPECT_THAT(losses(), testing::IsEmpty());
  EXPECT_EQ(timeline_.lane(0)->time_in(Category::kCompute, ms(0), ms(40)), ms(20));
}

TEST_F(IngestTest, MissesWhatAnAgentThatDiedHadTakenFromTheRingsAndNotSent) {
  take(sender_.frame(roster_by(7, ms(0))));
  take(sender_.computes(0, ms(10), ms(20)));
  sender_.begin_again();
  take(sender_.frame(roster_of_heir(7, 3, ms(35))));
  EXPECT_THAT(losses(), testing::ElementsAre(LossKind::kNodeSilent));
}

TEST_F(IngestTest, MissesWhatAnAgentDidOfWhichNothingWasHeard) {
  take(sender_.frame(roster_by(7, ms(0))));
  take(sender_.computes(0, ms(10), ms(20)));
  sender_.begin_again();
  take(sender_.frame(roster_of_heir(6, 1, ms(35))));
  EXPECT_THAT(losses(), testing::ElementsAre(LossKind::kNodeSilent));
}

TEST_F(IngestTest, MissesWhatNobodyHeardOfTheFirstAgentOfANode) {
  take(sender_.frame(roster_of_heir(7, 2, ms(35))));
  EXPECT_THAT(losses(), testing::ElementsAre(LossKind::kBeforeStart));
}

TEST_F(IngestTest, MissesNothingOfAnAgentThatHadTakenNothingFromTheRings) {
  take(sender_.frame(roster_of_heir(7, 0, ms(35))));
  EXPECT_THAT(losses(), testing::IsEmpty());
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
