// Both ends of the stream against each other over real sockets.

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "monitor/link/link.h"
#include "probe/outlet/mailbox/mailbox.h"
#include "tests/link/stage.h"

namespace idlewave::link {
namespace {

using mailbox::Mailbox;
using mailbox::Message;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class LiveTest : public ::testing::Test {
 protected:
  void turn() {
    for (auto& outlet : outlets_)
      for (auto& command : outlet->serve(milliseconds(0))) commands_.push_back(command);
    if (link_) link_->wait(milliseconds(1), -1), link_->receive(clock_now(), got_);
  }
  template <class Done>
  void turn_until(Done done) {
    EXPECT_TRUE(run_until([this] { turn(); }, done));
  }
  void turn_until(LinkState state) {
    turn_until([&] { return link_->status().state == state; });
  }
  outlet::Outlet& sender(const outlet::Options& options) { return *outlets_.emplace_back(open_outlet(options)); }
  outlet::Outlet& sender() { return *outlets_.emplace_back(outlet_at(endpoint_)); }
  void connect(LiveOptions options = {}) {
    options.endpoint = endpoint_;
    link_ = link_to(options);
  }

  const Scratch scratch_;
  const std::string endpoint_ = scratch_.ipc("s");
  std::vector<std::unique_ptr<outlet::Outlet>> outlets_;
  std::unique_ptr<Link> link_;
  std::vector<Delivery> got_;
  std::vector<wire::Command> commands_;
};

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

// ---- listening

class ListeningTest : public LiveTest {
 protected:
  void listen(LiveOptions options = {}) {
    options.listen = true;
    connect(options);
  }
  outlet::Outlet& sender_on(const std::string& node, const std::string& session = kSession) {
    return sender({.session = session, .node = node, .connect = endpoint_});
  }
  /// Somebody who says what no program of ours does.
  std::unique_ptr<Mailbox> a_stranger() {
    return std::move(*Mailbox::open({.connect = endpoint_, .queue_messages = 100}));
  }
  void tell(Mailbox& stranger, const std::vector<std::byte>& bytes) {
    turn_until([&] { return stranger.send("", bytes) == mailbox::Sent::kYes; });
  }
  void tell(Mailbox& stranger, const std::string& node, decltype(wire::Frame::body) body, std::uint64_t number = 0) {
    tell(stranger, wire::encode({kSession, node, number, std::move(body)}));
  }
};

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

/// Made 5 s after the session began, by a clock that has nothing to do with others.
wire::Roster roster_that_says(std::int64_t began_wall) {
  wire::Roster roster = roster_of(4);
  roster.node_time = seconds(77'000);
  roster.began = roster.node_time - seconds(5);
  roster.unix_time_ns = began_wall + 5'000'000'000;
  return roster;
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

TEST_F(LiveTest, DoesNotTellTheSenderThatItAttachesToWhenTheSessionBegan) {
  auto& outlet = sender();
  outlet.send(roster_that_says(1'700'000'000'000'000'000));
  connect();
  turn_until([&] { return !got_.empty(); });
  const Nanoseconds start = clock_now();
  turn_until([&] { return clock_now() - start > seconds(2); });  // Of which each second has a Credit.
  EXPECT_EQ(outlet.told_beginning(), std::nullopt);
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

// ---- over tcp

class TcpTest : public ListeningTest {
 protected:
  void listen_at_a_port() {
    link_ = link_to({.endpoint = "tcp://127.0.0.1:*", .listen = true, .key = ring_.files.server});
  }
  outlet::Outlet& sender_at_a_port() {
    return sender({.session = kSession, .node = "n1", .listen = "tcp://127.0.0.1:*", .key = ring_.files.server});
  }
  void connect_with(const std::string& key, wire::Role role = wire::Role::kOperator) {
    link_ = link_to({.endpoint = outlets_[0]->listen_endpoint(), .key = key, .role = role});
  }
  const Keyring ring_;
};

TEST_F(TcpTest, AnAgentsKeyLetsItReport) {
  listen_at_a_port();
  sender({.session = kSession, .node = "n1", .connect = bound_endpoint(*link_), .key = ring_.files.agents})
      .send(events(1));
  turn_until([&] { return got_.size() == 1; });
}

TEST_F(TcpTest, NoOtherKeyLetsAnybodyReport) {
  listen_at_a_port();
  for (const std::string& key : {ring_.files.operators, ring_.files.viewers}) {
    auto& impostor = sender({.session = kSession, .node = "n1", .connect = bound_endpoint(*link_), .key = key});
    impostor.send(events(1));
    turn_until([&] { return !impostor.refusal().empty(); });
    EXPECT_EQ(impostor.refusal(), "this key does not let anybody report");
  }
  EXPECT_EQ(link_->status().state, LinkState::kWaiting);
  EXPECT_THAT(got_, IsEmpty());
}

TEST_F(TcpTest, AViewersKeyMakesASpectatorWhateverItAsksFor) {
  sender_at_a_port();
  connect_with(ring_.files.viewers, wire::Role::kOperator);
  turn_until(LinkState::kLive);
  EXPECT_EQ(link_->status().no_command, wire::NoCommand::kSpectator);
}

TEST_F(TcpTest, AnOperatorsKeyCommandsAndMayAlsoOnlyWatch) {
  sender_at_a_port();
  connect_with(ring_.files.operators);
  turn_until(LinkState::kLive);
  ASSERT_TRUE(link_->send(clock_now(), a_delay()));
  turn_until([&] { return !commands_.empty(); });
  connect_with(ring_.files.operators, wire::Role::kSpectator);
  turn_until(LinkState::kLive);
  EXPECT_EQ(link_->status().no_command, wire::NoCommand::kSpectator);
}

TEST_F(TcpTest, SaysWhenItsKeyIsOfAnotherSession) {
  sender_at_a_port();
  const Keyring other;
  connect_with(other.files.operators);
  turn_until(LinkState::kRefused);
  EXPECT_THAT(link_->status().detail, AllOf(HasSubstr(outlets_[0]->listen_endpoint()), HasSubstr("key does not fit")));
}

TEST_F(TcpTest, SaysWhenAnAgentsKeyIsUsedToWatch) {
  sender_at_a_port();
  connect_with(ring_.files.agents);
  turn_until(LinkState::kRefused);
  EXPECT_THAT(link_->status().detail, HasSubstr("this key does not let anybody watch"));
  EXPECT_EQ(outlets_[0]->consumers(), 0);
}

TEST_F(TcpTest, AnAgentSaysWhenItsKeyIsOfAnotherSession) {
  listen_at_a_port();
  const Keyring other;
  auto& agent =
      sender({.session = kSession, .node = "n1", .connect = bound_endpoint(*link_), .key = other.files.agents});
  turn_until([&] { return !agent.refusal().empty(); });
  EXPECT_THAT(agent.refusal(), HasSubstr("key does not fit"));
}

// ---- from a relay

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

TEST(Listening, NamesThePortThatWasFree) {
  const Keyring ring;
  const auto link = link_to({.endpoint = "tcp://127.0.0.1:*", .listen = true, .key = ring.files.server});
  EXPECT_THAT(bound_endpoint(*link), ::testing::MatchesRegex("tcp://127.0.0.1:[0-9]+"));
}

}  // namespace
}  // namespace idlewave::link
