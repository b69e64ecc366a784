// Both ends of the stream against each other over real sockets.

#include <algorithm>

#include "monitor/link/link.h"
#include "probe/outlet/mailbox/mailbox.h"
#include "tests/link/live_stage.h"

namespace idlewave::link {
namespace {

using mailbox::Mailbox;
using mailbox::Message;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(LiveTest, DeliversEveryFrameInOrderFromTheFirstOne) {
  auto& outlet = sender();
  outlet.send(roster_of(4));
  for (int i = 2; i <= 50; ++i) outlet.send(events(i));
  connect();
  turn_until([&] { return got_.size() >= 50; });
  outlet.send(events(51));
  turn_until([&] { return got_.size() >= 51; });
  EXPECT_EQ(numbers_of(got_), up_to(51));
}

TEST_F(LiveTest, DeliversMoreFramesThanItGivesCredits) {
  auto& outlet = sender();
  for (int i = 1; i <= 1000; ++i) outlet.send(events(i));
  connect({.credits = 3});
  turn_until([&] { return got_.size() >= 1000; });
  EXPECT_EQ(numbers_of(got_), up_to(1000));
}

TEST_F(LiveTest, LeavesMostOfAFloodToTheNextCalls) {
  auto& outlet = sender();
  for (int i = 1; i <= 100; ++i) outlet.send(events(i, 20'000));
  connect();
  std::size_t largest = 0, frames = 0;
  turn_until([&] {
    std::size_t bytes = 0;
    for (const Delivery& delivery : got_) bytes += delivery.bytes.size();
    largest = std::max(largest, bytes), frames += got_.size();
    got_.clear();
    return frames >= 100;
  });
  const std::size_t one = wire::encode({kSession, "n1", 1, events(1, 20'000)}).size();
  EXPECT_GT(100 * one, 1u << 20);
  EXPECT_LE(largest, (256u << 10) + one);
}

TEST_F(LiveTest, DeliversFramesByteForByteWithTheTimeOfTheCall) {
  auto& outlet = sender();
  outlet.send(events(7, 100));
  connect();
  std::vector<Delivery> got;
  ASSERT_TRUE(run_until([&] { outlet.serve(milliseconds(1)), link_->receive(seconds(123), got); },
                        [&] { return !got.empty(); }));
  EXPECT_EQ(got[0].bytes, wire::encode({kSession, "n1", 1, events(7, 100)}));
  EXPECT_EQ(got[0].received_at, seconds(123));
  EXPECT_EQ(got[0].direction, wire::Direction::kReceived);
}

TEST_F(LiveTest, IsLiveAsSoonAsTheSenderAnswersEvenIfItHasNothingToSay) {
  sender();
  connect();
  EXPECT_EQ(link_->status().state, LinkState::kWaiting);
  turn_until(LinkState::kLive);
  EXPECT_THAT(got_, IsEmpty());
}

TEST_F(LiveTest, StaysLiveWhileAnIdleSenderIsThere) {
  sender();
  connect({.patience = seconds(3)});
  turn_until(LinkState::kLive);
  const Nanoseconds start = clock_now();
  bool always_live = true;
  turn_until([&] {
    always_live = always_live && link_->status().state == LinkState::kLive;
    return clock_now() - start > seconds(5);
  });
  EXPECT_TRUE(always_live);
}

TEST_F(LiveTest, HandsCommandsToTheSenderAndEchoesThem) {
  sender();
  connect();
  turn_until(LinkState::kLive);
  ASSERT_FALSE(link_->status().no_command);
  ASSERT_TRUE(link_->send(clock_now(), a_delay()));
  turn_until([&] { return !commands_.empty() && !got_.empty(); });
  EXPECT_THAT(commands_, ElementsAre(a_delay()));
  ASSERT_THAT(got_, SizeIs(1));
  EXPECT_EQ(got_[0].direction, wire::Direction::kSent);
  EXPECT_EQ(got_[0].bytes, wire::encode({kSession, "", 0, a_delay()}));
}

TEST_F(LiveTest, RefusesToSendCommandsOfASpectator) {
  sender();
  connect({.role = wire::Role::kSpectator});
  turn_until(LinkState::kLive);
  EXPECT_EQ(link_->status().no_command, wire::NoCommand::kSpectator);
  const auto sent = link_->send(clock_now(), a_delay());
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().message, HasSubstr("spectator"));
}

TEST_F(LiveTest, SaysThatNobodyIsThereToTakeACommand) {
  connect();
  const auto sent = link_->send(clock_now(), a_delay());
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().message, HasSubstr("waiting for " + endpoint_));
}

TEST_F(LiveTest, LetsASpectatorSeeEverything) {
  auto& outlet = sender();
  for (int i = 1; i <= 20; ++i) outlet.send(events(i));
  connect({.role = wire::Role::kSpectator});
  turn_until([&] { return got_.size() >= 20; });
  EXPECT_EQ(numbers_of(got_), up_to(20));
}

TEST_F(LiveTest, IsRefusedByAnotherSession) {
  sender();
  connect({.session = "wine"});
  turn_until(LinkState::kRefused);
  EXPECT_EQ(link_->status().detail, "this is another session than 'wine'");
}

TEST_F(LiveTest, SaysWhenNobodyAnswers) {
  connect({.patience = seconds(2)});
  turn();
  EXPECT_EQ(link_->status().state, LinkState::kWaiting);
  turn_until(LinkState::kLost);
  EXPECT_THAT(link_->status().detail,
              AllOf(HasSubstr("nobody answers at " + endpoint_), HasSubstr("is the program running")));
}

TEST_F(LiveTest, DoesNotCountTimeInWhichItDidNotLookAsSilence) {
  sender();
  connect();
  turn_until(LinkState::kLive);
  link_->receive(clock_now() + std::chrono::hours(1), got_);
  EXPECT_EQ(link_->status().state, LinkState::kLive);
}

TEST_F(LiveTest, GoesOnWithASenderThatComesBack) {
  connect({.patience = seconds(2)});
  sender().send(events(1));
  turn_until([&] { return got_.size() == 1; });
  outlets_.clear();
  turn_until(LinkState::kLost);
  EXPECT_THAT(link_->status().detail, HasSubstr("node n1"));
  auto& again = sender();
  again.send(roster_of(4));
  again.send(events(2));
  turn_until([&] { return got_.size() == 3; });
  EXPECT_EQ(link_->status().state, LinkState::kLive);
  EXPECT_THAT(numbers_of(got_), ElementsAre(1, 1, 2));
}

TEST_F(LiveTest, ServesTwoMonitorsAtTheirOwnSpeed) {
  auto& outlet = sender();
  for (int i = 1; i <= 300; ++i) outlet.send(events(i));
  connect({.credits = 100});
  turn_until([&] { return got_.size() >= 300; });
  auto slow = link_to({.endpoint = endpoint_, .credits = 2});
  std::vector<Delivery> slow_got;
  const auto slow_turn = [&] { turn(), slow->receive(clock_now(), slow_got); };
  ASSERT_TRUE(run_until(slow_turn, [&] { return slow->status().state == LinkState::kLive; }));
  for (int i = 301; i <= 600; ++i) outlet.send(events(i));
  turn_until([&] { return got_.size() >= 600; });
  EXPECT_LT(slow_got.size(), 10u);
  ASSERT_TRUE(run_until(slow_turn, [&] { return slow_got.size() >= 300; }));
  EXPECT_EQ(numbers_of(got_), up_to(600));
  auto expected = up_to(600);
  expected.erase(expected.begin(), expected.begin() + 300);
  EXPECT_EQ(numbers_of(slow_got), expected);
}

TEST_F(LiveTest, GivesALateMonitorAFreshRosterFirst) {
  auto& outlet = sender();
  outlet.send(roster_of(4));
  outlet.send(events(2));
  connect();
  turn_until([&] { return got_.size() >= 2; });
  outlet.send(events(3));
  auto late = link_to({.endpoint = endpoint_});
  std::vector<Delivery> late_got;
  ASSERT_TRUE(run_until([&] { turn(), late->receive(clock_now(), late_got); }, [&] { return !late_got.empty(); }));
  const auto frames = frames_of(late_got);
  ASSERT_THAT(frames, SizeIs(1));
  EXPECT_EQ(frames[0].sequence, 4u);
  EXPECT_EQ(std::get<wire::Roster>(frames[0].body).world_size, 4);
}

TEST_F(LiveTest, TellsTheSenderWhenItLeaves) {
  auto& outlet = sender();
  connect();
  turn_until([&] { return outlet.consumers() == 1 && link_->status().state == LinkState::kLive; });
  link_.reset();
  turn_until([&] { return outlet.consumers() == 0; });
}

TEST_F(LiveTest, SurvivesAProgramThatSpeaksSomethingElse) {
  auto stranger = std::move(*Mailbox::open({.listen = endpoint_, .queue_messages = 100}));
  connect({.patience = seconds(2)});
  Message attach;
  turn_until([&] { return stranger->receive(attach); });
  stranger->send(attach.peer, std::vector<std::byte>(100, std::byte{0xc1}));
  turn_until(LinkState::kRefused);
  EXPECT_THAT(link_->status().detail, HasSubstr(endpoint_ + " is no idlewave session"));
  EXPECT_THAT(got_, SizeIs(1));
}

TEST_F(LiveTest, SaysWhichWireVersionASenderHas) {
  auto stranger = std::move(*Mailbox::open({.listen = endpoint_, .queue_messages = 100}));
  connect();
  Message attach;
  turn_until([&] { return stranger->receive(attach); });
  auto newer = wire::encode({kSession, "n1", 0, wire::Hello{}});
  const auto version = std::search_n(newer.begin(), newer.end(), 1, std::byte{'v'}) + 1;
  ASSERT_EQ(*version, std::byte{wire::kWireVersion});
  *version = std::byte{9};
  stranger->send(attach.peer, newer);
  turn_until(LinkState::kRefused);
  EXPECT_THAT(link_->status().detail, HasSubstr("frame of wire version 9; this program reads 1 and 2"));
}

TEST_F(LiveTest, ReturnsTheCreditsOfFramesThatDoNotDecode) {
  auto sender = std::move(*Mailbox::open({.listen = endpoint_, .queue_messages = 100}));
  connect({.credits = 8});
  Message message;
  turn_until([&] { return sender->receive(message); });
  sender->send(message.peer, wire::encode({kSession, "n1", 0, wire::Credit{0}}));
  for (int i = 0; i < 8; ++i) sender->send(message.peer, std::vector<std::byte>(10, std::byte{0xc1}));
  std::uint32_t returned = 0;
  turn_until([&] {
    while (sender->receive(message)) {
      const auto frame = wire::decode(message.bytes);
      if (const auto* credit = std::get_if<wire::Credit>(&frame->body)) returned += credit->frames;
    }
    return returned >= 8;
  });
  EXPECT_EQ(returned, 8u);
}

TEST_F(LiveTest, SleepsWhenTheSenderIsGoneThatItOwesCredits) {
  auto& outlet = sender();
  for (int i = 1; i <= 7; ++i) outlet.send(events(i));
  connect({.credits = 8, .patience = seconds(2)});
  turn_until([&] { return got_.size() == 7; });
  outlets_.clear();
  int rounds = 0;
  const auto turn_slowly = [&] { ++rounds, link_->wait(milliseconds(20), -1), link_->receive(clock_now(), got_); };
  EXPECT_TRUE(run_until(turn_slowly, [&] { return link_->status().state == LinkState::kLost; }));
  EXPECT_LT(rounds, 1000);
}

TEST_F(LiveTest, DoesNotTellTheSenderThatItAttachesToWhenTheSessionBegan) {
  auto& outlet = sender();
  outlet.send(roster_that_says(1'700'000'000'000'000'000));
  connect();
  turn_until([&] { return !got_.empty(); });
  const Nanoseconds start = clock_now();
  turn_until([&] { return clock_now() - start > seconds(2); });  // Of which each second has a Credit.
  EXPECT_EQ(outlet.told_beginning(), std::nullopt);
}

TEST_F(LiveTest, HandsOnWhatTheHostOfTheSessionDid) {
  auto& relay = sender({.session = kSession, .node = wire::kRelayNode, .listen = endpoint_, .is_relay = true});
  const std::vector<std::vector<std::byte>> told{
      wire::encode({kSession, "n1", 1, roster_of(4)}), wire::encode({kSession, "", 0, a_delay()}),
      wire::encode({kSession, "n1", 0, wire::Refusal{"this node reports over another connection"}}),
      wire::encode({kSession, "n2", 1, roster_of(8)})};
  for (const auto& frame : told) relay.relay(frame);
  connect({.credits = 2});
  turn_until([&] { return got_.size() == told.size(); });
  const auto kReceived = wire::Direction::kReceived, kSent = wire::Direction::kSent;
  std::vector<wire::Direction> directions;
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(got_[i].bytes, told[i]);
    directions.push_back(got_[i].direction);
  }
  EXPECT_THAT(directions, ElementsAre(kReceived, kSent, kSent, kReceived));
  EXPECT_EQ(link_->status().state, LinkState::kLive);
}

}  // namespace
}  // namespace idlewave::link
