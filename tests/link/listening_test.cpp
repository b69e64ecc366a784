// A monitor that senders come to, over real sockets.

#include <algorithm>
#include <map>
#include <thread>

#include "monitor/link/link.h"
#include "probe/outlet/mailbox/mailbox.h"
#include "tests/link/live_stage.h"

namespace idlewave::link {
namespace {

using mailbox::Message;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(ListeningTest, TakesSeveralSendersEachFromItsFirstFrame) {
  listen();
  for (const char* node : {"n1", "n2", "n3"}) {
    auto& outlet = sender_on(node);
    for (int i = 1; i <= 100; ++i) outlet.send(events(i));
  }
  turn_until([&] { return got_.size() >= 300; });
  std::map<std::string, std::vector<std::uint64_t>> numbers;
  for (const auto& frame : frames_of(got_)) numbers[frame.node].push_back(frame.sequence);
  ASSERT_THAT(numbers, SizeIs(3));
  for (const auto& [node, of_node] : numbers) EXPECT_EQ(of_node, up_to(100)) << node;
}

TEST_F(ListeningTest, TellsEverySenderWhenTheSessionBeganAsTheFirstOneKnowsIt) {
  constexpr std::int64_t kBegan = 1'700'000'000'123'456'789;
  listen();
  auto &first = sender_on("n1"), &second = sender_on("n2");
  turn_until([&] { return first.consumers() == 1 && second.consumers() == 1; });
  EXPECT_EQ(second.told_beginning(), std::nullopt);
  wire::Roster absurd = roster_that_says(kBegan);
  absurd.began = absurd.node_time + seconds(1);
  first.send(absurd);
  turn_until([&] { return numbers_of(got_).size() == 1; });
  first.send(roster_that_says(kBegan));
  turn_until([&] { return first.told_beginning() && second.told_beginning(); });
  second.send(roster_that_says(kBegan + 9'000'000'000));
  turn_until([&] { return numbers_of(got_).size() == 3; });
  auto& later = sender_on("n3");
  turn_until([&] { return later.told_beginning().has_value(); });
  for (const outlet::Outlet* each : {&first, &second, &later}) EXPECT_EQ(each->told_beginning(), kBegan);
}

/// A clock that is far from ours.
constexpr Nanoseconds kAhead = seconds(500'000);
Nanoseconds far_clock() { return clock_now() + kAhead; }

TEST_F(ListeningTest, IsAskedForTheTimeByEachOfSeveralNodesAndByNoneThatIsAlone) {
  listen();
  const auto node = [&](const std::string& name) -> outlet::Outlet& {
    return sender({.session = kSession, .node = name, .connect = endpoint_, .node_clock = far_clock});
  };
  auto& first = node("n1");
  first.send(roster_of(4));
  turn_until([&] { return numbers_of(got_).size() == 1; });
  const Nanoseconds limit = clock_now() + milliseconds(1500);  // Credits go once a second.
  turn_until([&] { return clock_now() > limit; });
  EXPECT_THAT(first.take_round_trips(), IsEmpty());
  auto& second = node("n2");
  second.send(roster_of(4));
  std::map<outlet::Outlet*, wire::RoundTrip> told;
  turn_until([&] {
    for (outlet::Outlet* each : {&first, &second})
      for (const wire::RoundTrip& trip : each->take_round_trips()) told.emplace(each, trip);
    return told.size() == 2;
  });
  // Both clocks were read while the question was under way, and the two nodes have one clock: what lies between it and
  // ours is more than one reading before the other, and less than one after it.
  Nanoseconds least = Nanoseconds::min(), most = Nanoseconds::max();
  for (const auto& [outlet, trip] : told) {
    EXPECT_LE(trip.heard, trip.told);
    EXPECT_EQ(trip.reference, told.begin()->second.reference);
    least = std::max(least, trip.told - trip.back), most = std::min(most, trip.heard - trip.asked);
  }
  EXPECT_LE(least, most);
  EXPECT_THAT(numbers_of(got_), SizeIs(2)) << "questions are no part of a stream";
}

TEST_F(ListeningTest, SendsCommandsToEverySender) {
  listen();
  sender_on("n1"), sender_on("n2");
  turn_until([&] { return outlets_[0]->consumers() + outlets_[1]->consumers() == 2; });
  ASSERT_TRUE(link_->send(clock_now(), a_delay()));
  turn_until([&] { return commands_.size() == 2; });
}

TEST_F(ListeningTest, ShowsThePageOfALessonToEverySenderAlsoToThoseThatComeLater) {
  const auto page = [](std::uint64_t number) {
    return wire::LessonPage{.number = number, .title = "A pause", .text = "Look at rank 5."};
  };
  const auto latest_of = [&](const std::string& node) {
    std::optional<wire::LessonPage> latest;
    for (const wire::Frame& frame : frames_of(got_))
      if (const auto* roster = std::get_if<wire::Roster>(&frame.body); roster && frame.node == node)
        latest = roster->lesson;
    return latest;
  };
  listen();
  sender_on("n1").send(roster_of(4));
  turn_until([&] { return got_.size() == 1; });
  link_->show(page(1));
  turn_until([&] { return latest_of("n1") == page(1); });
  sender_on("n2").send(roster_of(4));
  turn_until([&] { return latest_of("n2") == page(1); });
  link_->show(page(2));
  turn_until([&] { return latest_of("n1") == page(2) && latest_of("n2") == page(2); });
}

TEST_F(ListeningTest, WaitsAsLongAsItTakesForTheFirstSender) {
  listen({.patience = seconds(2)});
  for (int s = 0; s < 100; ++s) link_->receive(seconds(s), got_);
  EXPECT_EQ(link_->status().state, LinkState::kWaiting);
}

TEST_F(ListeningTest, TakesTheSessionOfTheFirstSenderAndRefusesOthers) {
  listen();
  sender_on("n1");
  turn_until(LinkState::kLive);
  auto& other = sender_on("n2", "wine");
  other.send(events(1));
  turn_until([&] { return !other.refusal().empty(); });
  EXPECT_THAT(other.refusal(), AllOf(HasSubstr("'wine'"), Not(HasSubstr("water"))));
  EXPECT_EQ(link_->status().state, LinkState::kLive);
  EXPECT_THAT(numbers_of(got_), IsEmpty());
}

TEST_F(ListeningTest, SaysWhichNodeWasLostWhileOthersGoOn) {
  listen({.patience = seconds(2)});
  sender_on("n1").send(events(1)), sender_on("n2").send(events(1));
  turn_until([&] { return got_.size() == 2; });
  outlets_.pop_back();
  turn_until([&] { return !link_->status().detail.empty(); });
  EXPECT_EQ(link_->status().state, LinkState::kLive);
  EXPECT_THAT(link_->status().detail, HasSubstr("node n2"));
}

TEST_F(ListeningTest, KnowsAtOnceThatNobodySpeaksAnyMoreWhereAllConnectionsAreClosed) {
  listen({.patience = std::chrono::hours(1)});
  sender_on("n1").send(events(1)), sender_on("n2").send(events(1));
  turn_until([&] { return got_.size() == 2; });
  outlets_.clear();
  turn_until(LinkState::kLost);
  EXPECT_TRUE(link_->status().for_good);
  EXPECT_THAT(link_->status().detail, HasSubstr("closed its connection"));
}

TEST_F(ListeningTest, ForgetsALostNodeThatCameAgain) {
  listen({.patience = seconds(2)});
  sender_on("n1").send(events(1));
  turn_until([&] { return got_.size() == 1; });
  outlets_.clear();
  turn_until(LinkState::kLost);
  sender_on("n1").send(events(1));
  turn_until([&] { return got_.size() == 2; });
  EXPECT_EQ(link_->status().state, LinkState::kLive);
  EXPECT_EQ(link_->status().detail, "");
}

TEST_F(ListeningTest, GoesOnAfterTheMonitorWasReplaced) {
  listen();
  auto& outlet = sender_on("n1");
  outlet.send(roster_of(4));
  turn_until([&] { return got_.size() == 1; });
  link_.reset();
  outlet.send(events(2));
  turn_until([&] { return outlet.consumers() == 0; });
  got_.clear();
  listen();
  turn_until([&] { return !got_.empty(); });
  const auto frames = frames_of(got_);
  EXPECT_TRUE(std::holds_alternative<wire::Roster>(frames[0].body));
}

TEST_F(ListeningTest, TakesNothingFromAStrangerThatSpeaksSomethingElse) {
  listen();
  auto stranger = a_stranger();
  tell(*stranger, std::vector<std::byte>(100, std::byte{0xc1}));
  turn_until([&] { return link_->status().turned_away == 1; });
  EXPECT_THAT(link_->status().last_turned_away, HasSubstr("not one whole msgpack map"));
  EXPECT_EQ(link_->status().state, LinkState::kWaiting);
  EXPECT_THAT(got_, IsEmpty());
}

TEST_F(ListeningTest, ForgetsStrangersThatSayHelloAndNothingElse) {
  listen({.patience = seconds(2)});
  auto stranger = a_stranger();
  tell(*stranger, "x", wire::Hello{});
  turn_until(LinkState::kLive);
  turn_until(LinkState::kWaiting);
}

TEST_F(ListeningTest, IsNotImpressedByAStrangerThatRefusesAndCommands) {
  listen();
  auto stranger = a_stranger();
  tell(*stranger, "x", wire::Hello{});
  turn_until(LinkState::kLive);
  tell(*stranger, "x", wire::Refusal{"go away"});
  tell(*stranger, "x", a_delay());
  tell(*stranger, wire::encode({"wine", "x", 0, wire::Hello{}}));
  sender_on("n1").send(events(1));
  turn_until([&] { return numbers_of(got_).size() == 1; });
  outlets_.clear();
  turn_until([&] { return link_->status().state != LinkState::kLive; });
  EXPECT_EQ(link_->status().state, LinkState::kLost);
}

TEST_F(ListeningTest, TakesTheStreamOfANodeFromItsOwnConnectionOnly) {
  listen();
  auto& owner = sender_on("n1");
  owner.send(roster_of(4));
  turn_until([&] { return numbers_of(got_).size() == 1; });
  auto stranger = a_stranger();
  tell(*stranger, "n1", wire::Hello{});
  tell(*stranger, "n1", roster_of(4000), std::uint64_t(-1));
  tell(*stranger, "n1", events(2), 2);
  tell(*stranger, "n1", wire::End{}, 3);
  turn_until([&] { return link_->status().turned_away == 4; });
  owner.send(events(2));
  turn_until([&] { return numbers_of(got_).size() == 2; });
  EXPECT_THAT(numbers_of(got_), ElementsAre(1, 2));
  EXPECT_EQ(link_->status().state, LinkState::kLive);
  EXPECT_EQ(link_->status().last_turned_away, "this node reports over another connection");
}

TEST_F(ListeningTest, TellsOnceASecondWhomItTurnedAwayForScreensAndRecordings) {
  listen();
  sender_on("n1").send(events(1));
  turn_until([&] { return numbers_of(got_).size() == 1; });
  got_.clear();
  auto stranger = a_stranger();
  for (int i = 0; i < 50; ++i) tell(*stranger, "n1", wire::Hello{});
  turn_until([&] { return link_->status().turned_away == 50; });
  ASSERT_FALSE(got_.empty());
  EXPECT_LT(got_.size(), 50u);
  EXPECT_EQ(got_[0].direction, wire::Direction::kSent);
  const wire::Frame told = *wire::decode(got_[0].bytes);
  EXPECT_EQ(told.session, kSession);
  EXPECT_EQ(told.node, "n1");
  EXPECT_EQ(std::get<wire::Refusal>(told.body).reason, "this node reports over another connection");
}

TEST_F(ListeningTest, NamesItsSessionToNoStranger) {
  listen({.session = kSession});
  auto stranger = a_stranger();
  tell(*stranger, std::vector<std::byte>(100, std::byte{0xc1}));
  tell(*stranger, wire::encode({"", "n1", 0, wire::Hello{}}));
  tell(*stranger, wire::encode({"wine", "n1", 0, wire::Hello{}}));
  tell(*stranger, wire::encode({"", "", 0, wire::Attach{wire::Role::kOperator, 100}}));
  int refusals = 0;
  turn_until([&] {
    for (Message answer; stranger->receive(answer); ++refusals) {
      const wire::Frame frame = *wire::decode(answer.bytes);
      EXPECT_EQ(frame.session, "");
      EXPECT_THAT(std::get<wire::Refusal>(frame.body).reason, Not(HasSubstr(kSession)));
    }
    return refusals == 4;
  });
}

TEST_F(ListeningTest, TakesNoFramesOfOtherNodesOverTheConnectionOfOne) {
  listen();
  auto agent = a_stranger();
  tell(*agent, "n1", wire::Hello{});
  Message attach;
  turn_until([&] { return agent->receive(attach); });
  tell(*agent, "n1", events(1), 1);
  tell(*agent, "n2", events(1), 1);
  tell(*agent, "*", events(1), 1);
  tell(*agent, "n1", events(2), 2);
  turn_until([&] { return numbers_of(got_).size() == 2; });
  EXPECT_THAT(numbers_of(got_), ElementsAre(1, 2));
  EXPECT_EQ(link_->status().turned_away, 2u);
}

TEST_F(ListeningTest, LetsANewAgentTakeTheNodeOfOneThatDiedAtOnce) {
  listen({.patience = std::chrono::hours(1)});
  sender_on("n1").send(roster_of(4));
  turn_until([&] { return numbers_of(got_).size() == 1; });
  outlets_.clear();  // Without a farewell, as if it had been killed.
  auto& anew = sender_on("n1");
  anew.send(roster_of(4));
  anew.send(events(2));
  turn_until([&] { return numbers_of(got_).size() == 3; });
  EXPECT_THAT(numbers_of(got_), ElementsAre(1, 1, 2));
  EXPECT_EQ(link_->status().state, LinkState::kLive);
  EXPECT_EQ(anew.refusal(), "");
}

TEST_F(ListeningTest, TakesANewStreamOfANodeWhoseOldOneHasEnded) {
  listen();
  for (int program = 0; program < 3; ++program) {
    std::atomic<bool> ended{false}, heard_out{false};
    const std::jthread agent([&] {
      auto outlet = open_outlet({.session = kSession, .node = "n1", .connect = endpoint_});
      outlet->send(events(1));
      heard_out = outlet->finish(seconds(30));
      ended = true;
    });
    turn_until([&] { return ended.load(); });
    EXPECT_TRUE(heard_out);
  }
  EXPECT_THAT(numbers_of(got_), ElementsAre(1, 2, 1, 2, 1, 2));
  EXPECT_EQ(link_->status().state, LinkState::kEnded);
}

TEST_F(ListeningTest, SaysWhenItsEndpointIsTaken) {
  listen();
  const auto second = open_live({.endpoint = endpoint_, .listen = true});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("is taken by another program"));
}

TEST(Listening, NamesThePortThatWasFree) {
  const Keyring ring;
  const auto link = link_to({.endpoint = "tcp://127.0.0.1:*", .listen = true, .key = ring.files.server});
  EXPECT_THAT(bound_endpoint(*link), ::testing::MatchesRegex("tcp://127.0.0.1:[0-9]+"));
}

}  // namespace
}  // namespace idlewave::link
