// The sending end against a consumer that is spoken by hand, message for message.

#include "probe/outlet/outlet.h"

#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <zmq.hpp>

#include "probe/outlet/mailbox/mailbox.h"
#include "tests/outlet/consumer.h"
#include "tests/outlet/keyring.h"

namespace idlewave::outlet {
namespace {

using mailbox::Mailbox;
using mailbox::Message;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(OutletTest, SendsNothingWithoutCredit) {
  auto outlet = outlet_at(endpoint_);
  for (int i = 1; i <= 5; ++i) outlet->send(events(i));
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 2});
  consumer.hear_up_to(2);
  consumer.say(wire::Credit{0});  // Its answer comes after all that could have been sent.
  consumer.hear<wire::Credit>();
  consumer.hear<wire::Credit>();
  EXPECT_THAT(consumer.numbers(), ElementsAre(1, 2));
  consumer.say(wire::Credit{3});
  consumer.hear_up_to(5);
  EXPECT_THAT(consumer.numbers(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(OutletTest, NamesItselfInEveryFrame) {
  auto outlet = outlet_at(endpoint_);
  outlet->send(events(1));
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 2});
  consumer.hear_up_to(1);
  ASSERT_FALSE(consumer.heard.empty());
  for (const auto& frame : consumer.heard) {
    EXPECT_EQ(frame.session, kSession);
    EXPECT_EQ(frame.node, "n1");
  }
}

TEST_F(OutletTest, TakesASecondAttachOfTheSameConnectionForARepetition) {
  auto outlet = outlet_at(endpoint_);
  outlet->send(roster_of(4));
  Consumer consumer(*outlet, endpoint_);
  for (int i = 0; i < 3; ++i) consumer.say(wire::Attach{wire::Role::kOperator, 100});
  consumer.hear_up_to(1);
  outlet->send(events(2));
  consumer.hear_up_to(2);
  EXPECT_THAT(consumer.numbers(), ElementsAre(1, 2));
  EXPECT_EQ(outlet->consumers(), 1);
}

TEST_F(OutletTest, GivesALateConsumerAFreshRosterFirst) {
  auto outlet = outlet_at(endpoint_);
  outlet->send(roster_of(4));
  Consumer first(*outlet, endpoint_);
  first.say(wire::Attach{wire::Role::kOperator, 100});
  first.hear_up_to(1);
  for (int i = 2; i <= 10; ++i) outlet->send(events(i));
  first.hear_up_to(10);
  Consumer late(*outlet, endpoint_);
  late.say(wire::Attach{wire::Role::kOperator, 100});
  late.hear_up_to(11);
  EXPECT_THAT(late.numbers(), ElementsAre(11));
  EXPECT_EQ(late.hear<wire::Roster>().world_size, 4);
}

TEST_F(OutletTest, LeavesAHoleInTheNumbersWhereASlowConsumerLostFrames) {
  auto outlet = outlet_at(endpoint_, 1000);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 1});
  outlet->send(events(1));
  consumer.hear_up_to(1);
  for (int i = 2; i <= 100; ++i) outlet->send(events(i, 200));
  consumer.say(wire::Credit{200});
  consumer.hear_up_to(100);
  const auto numbers = consumer.numbers();
  ASSERT_GE(numbers.size(), 3u);
  EXPECT_EQ(numbers[0], 1u);
  EXPECT_GT(numbers[1], 90u);
  EXPECT_EQ(numbers.back(), 100u);
}

std::vector<wire::Rank> worlds_in(const std::vector<wire::Frame>& heard) {
  std::vector<wire::Rank> worlds;
  for (const auto& frame : heard)
    if (const auto* roster = std::get_if<wire::Roster>(&frame.body)) worlds.push_back(roster->world_size);
  return worlds;
}

TEST_F(OutletTest, TellsTheFirstConsumerTheRosterHoweverMuchWentBeforeItCame) {
  auto outlet = outlet_at(endpoint_, 1000);
  outlet->send(roster_of(2));
  outlet->send(roster_of(4));
  for (int i = 3; i <= 99; ++i) outlet->send(events(i, 200));
  outlet->send(roster_of(8));
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 100});
  consumer.hear_up_to(100);
  const auto numbers = consumer.numbers();
  EXPECT_GT(numbers.front(), 90u);
  EXPECT_EQ(numbers.size(), 100 - numbers.front() + 1) << "the roster has the number of the last frame lost";
  EXPECT_THAT(worlds_in(consumer.heard), ElementsAre(4, 8)) << "each before what it speaks of";
}

TEST_F(OutletTest, TellsASlowConsumerTheRosterThatItLost) {
  auto outlet = outlet_at(endpoint_, 1000);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 1});
  outlet->send(roster_of(2));
  consumer.hear_up_to(1);
  outlet->send(roster_of(4));
  for (int i = 3; i <= 100; ++i) outlet->send(events(i, 200));
  consumer.say(wire::Credit{200});
  consumer.hear_up_to(100);
  EXPECT_GT(consumer.numbers()[1], 90u);
  EXPECT_THAT(worlds_in(consumer.heard), ElementsAre(2, 4));
}

TEST_F(OutletTest, LeavesOutAFrameThatNoPeerWouldAccept) {
  auto outlet = outlet_at(endpoint_, 100u << 20);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 100});
  outlet->send(events(1));
  outlet->send(events(2, wire::kMaxFrameBytes + 1));
  outlet->send(events(3));
  consumer.hear_up_to(3);
  EXPECT_THAT(consumer.numbers(), ElementsAre(1, 3));
}

TEST_F(OutletTest, HandsOnTheCommandsOfOperators) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 100});
  const wire::Command command{7, {5}, wire::DelayOrder{milliseconds(250), 3}};
  consumer.say(command);
  EXPECT_TRUE(run_until([&] { consumer.turn(); }, [&] { return !consumer.commands.empty(); }));
  EXPECT_THAT(consumer.commands, ElementsAre(command));
}

TEST_F(OutletTest, RefusesTheCommandsOfSpectators) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kSpectator, 100});
  consumer.say(wire::Command{7, {}, wire::ClearOrder{}});
  EXPECT_THAT(consumer.hear<wire::Refusal>().reason, HasSubstr("spectator"));
  EXPECT_THAT(consumer.commands, IsEmpty());
}

wire::LessonPage a_page(std::uint64_t number) {
  return {.number = number, .page = 2, .pages = 3, .title = "A pause", .text = "Look at rank 5.", .now = "Press i."};
}

TEST_F(OutletTest, ShowsThePageOfALessonToAllAndToThoseWhoComeLater) {
  auto outlet = outlet_at(endpoint_);
  outlet->send(roster_of(4));
  Consumer teacher(*outlet, endpoint_), there(*outlet, endpoint_);
  teacher.say(wire::Attach{wire::Role::kOperator, 100});
  teacher.hear<wire::Roster>();  // Whoever attaches second lets everybody hear another roster.
  there.say(wire::Attach{wire::Role::kSpectator, 100});
  EXPECT_EQ(there.hear<wire::Roster>().lesson, std::nullopt);
  for (int i = 0; i < 2; ++i) teacher.say(a_page(7));
  EXPECT_EQ(there.hear<wire::Roster>().lesson, a_page(7));
  outlet->send(roster_of(5));
  const auto grown = there.hear<wire::Roster>();
  EXPECT_EQ(grown.world_size, 5) << "what is shown again is not said again";
  EXPECT_EQ(grown.lesson, a_page(7));
  Consumer late(*outlet, endpoint_);
  late.say(wire::Attach{wire::Role::kSpectator, 100});
  EXPECT_EQ(late.hear<wire::Roster>().lesson, a_page(7));
}

TEST_F(OutletTest, RefusesThePageOfASpectator) {
  auto outlet = outlet_at(endpoint_);
  outlet->send(roster_of(4));
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kSpectator, 100});
  consumer.say(a_page(7));
  EXPECT_THAT(consumer.hear<wire::Refusal>().reason, HasSubstr("spectator"));
  outlet->send(roster_of(5));
  consumer.hear_up_to(2);
  for (const auto& frame : consumer.heard)
    if (const auto* roster = std::get_if<wire::Roster>(&frame.body)) {
      EXPECT_EQ(roster->lesson, std::nullopt);
    }
}

TEST_F(OutletTest, LetsARoleThatItDoesNotKnowLookOnOnly) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{static_cast<wire::Role>(2), 100});
  consumer.hear<wire::Credit>();
  consumer.say(wire::Command{7, {}, wire::ClearOrder{}});
  EXPECT_THAT(consumer.hear<wire::Refusal>().reason, HasSubstr("spectator"));
  EXPECT_THAT(consumer.commands, IsEmpty());
}

TEST_F(OutletTest, TakesNoCommandFromWhoHasNotAttached) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Command{7, {}, wire::ClearOrder{}});
  consumer.hear<wire::Hello>();
  EXPECT_THAT(consumer.commands, IsEmpty());
}

TEST_F(OutletTest, RefusesAnotherSessionWithoutNamingItsOwn) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 100}, "wine");
  EXPECT_EQ(consumer.hear<wire::Refusal>().reason, "this is another session than 'wine'");
  EXPECT_EQ(outlet->consumers(), 0);
}

TEST_F(OutletTest, RefusesAConsumerThatCouldNotReadItsFrames) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  std::vector<std::byte> attach = wire::encode({kSession, "", 0, wire::Attach{wire::Role::kOperator, 100}});
  attach[3] = std::byte{wire::kWireVersion - 1};  // map, text of one byte, "v", version
  consumer.say_bytes(attach);
  EXPECT_EQ(consumer.hear<wire::Refusal>().reason, "frame of wire version 1; this program reads 2");
  EXPECT_EQ(outlet->consumers(), 0);
}

TEST_F(OutletTest, NamesItsSessionToNoStranger) {
  auto outlet = outlet_at(endpoint_);
  Consumer stranger(*outlet, endpoint_);
  stranger.say_bytes(std::vector<std::byte>(1000, std::byte{0xc1}));
  stranger.say(wire::Attach{wire::Role::kOperator, 100}, "wine");
  stranger.say(wire::Credit{1}, "");
  stranger.say(wire::Command{7, {}, wire::ClearOrder{}}, "");
  EXPECT_TRUE(run_until([&] { stranger.turn(); }, [&] { return stranger.heard.size() == 4; }));
  for (const wire::Frame& frame : stranger.heard) {
    EXPECT_EQ(frame.session, "");
    EXPECT_THAT(std::get<wire::Refusal>(frame.body).reason, Not(HasSubstr(kSession)));
  }
}

TEST_F(OutletTest, KeepsPlacesForOperatorsHoweverManyLookOn) {
  auto outlet = outlet_at(endpoint_);
  zmq::context_t context;  // One for all: as many mailboxes would take more descriptors than a process has.
  std::vector<zmq::socket_t> crowd;
  const auto attach = wire::encode({kSession, "", 0, wire::Attach{wire::Role::kSpectator, 1}});
  for (int i = 0; i < 250; ++i) {
    crowd.emplace_back(context, zmq::socket_type::dealer).set(zmq::sockopt::linger, 0);
    crowd.back().connect(endpoint_);
    crowd.back().send(zmq::buffer(attach));
  }
  EXPECT_TRUE(run_until([&] { outlet->serve(milliseconds(1)); }, [&] { return outlet->strange_messages() == 10; }));
  EXPECT_EQ(outlet->consumers(), 240);
  Consumer operators(*outlet, endpoint_);
  operators.say(wire::Attach{wire::Role::kOperator, 1});
  operators.hear<wire::Credit>();
  EXPECT_EQ(outlet->consumers(), 241);
}

TEST_F(OutletTest, KeepsLittleForASpectatorThatTakesNothing) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kSpectator, 0xffffffff});
  for (int i = 0; i < 3; ++i) consumer.say(wire::Credit{0xffffffff});
  for (int i = 1; i <= 1000; ++i) outlet->send(events(i, 1));
  consumer.hear_up_to(256);
  consumer.heard.clear();
  consumer.say(wire::Credit{0});  // Its answer comes after all that could have been sent.
  consumer.hear<wire::Credit>();
  EXPECT_THAT(consumer.numbers(), IsEmpty());
}

TEST_F(OutletTest, AcceptsAConsumerThatDoesNotKnowTheSession) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 100}, "");
  consumer.hear<wire::Credit>();
  EXPECT_EQ(outlet->consumers(), 1);
}

TEST_F(OutletTest, DropsAndCountsWhatIsNoFrame) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say_bytes(std::vector<std::byte>(1000, std::byte{0xc1}));
  consumer.hear<wire::Refusal>();
  EXPECT_EQ(outlet->strange_messages(), 1u);
  EXPECT_EQ(outlet->consumers(), 0);
}

TEST_F(OutletTest, CountsFramesThatOnlySendersSay) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 100});
  consumer.say(roster_of(1'000'000));
  consumer.say(wire::End{});
  consumer.say(wire::Credit{0});
  consumer.hear<wire::Credit>();
  consumer.hear<wire::Credit>();
  EXPECT_EQ(outlet->strange_messages(), 2u);
}

TEST_F(OutletTest, SurvivesAConsumerThatGrantsAllTheCreditThereIs) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 0xffffffff});
  for (int i = 0; i < 3; ++i) consumer.say(wire::Credit{0xffffffff});
  for (int i = 1; i <= 9000; ++i) outlet->send(events(i, 1));
  consumer.hear_up_to(4096);
  EXPECT_EQ(outlet->consumers(), 1);
}

TEST_F(OutletTest, IsAsFastAsTheConsumerThatIsMostInAHurry) {
  auto outlet = outlet_at(endpoint_);
  EXPECT_EQ(outlet->pace(), std::nullopt);
  Consumer patient(*outlet, endpoint_), other(*outlet, endpoint_);
  const auto becomes = [&](std::optional<wire::Nanoseconds> pace) {
    return run_until([&] { patient.turn(), other.turn(); }, [&] { return outlet->pace() == pace; });
  };
  patient.say(wire::Attach{wire::Role::kSpectator, 10});
  EXPECT_TRUE(becomes(milliseconds(0)));
  patient.say(wire::Credit{.frames = 0, .pace = milliseconds(250)});
  EXPECT_TRUE(becomes(milliseconds(250)));
  other.say(wire::Attach{wire::Role::kOperator, 10});
  EXPECT_TRUE(becomes(milliseconds(0)));
  other.say(wire::Credit{.frames = 0, .pace = std::chrono::hours(1)});
  EXPECT_TRUE(becomes(milliseconds(250)));
  patient.say(wire::EndAck{});
  EXPECT_TRUE(becomes(std::chrono::seconds(1)));
}

TEST_F(OutletTest, ReportsAMalformedEndpoint) {
  const auto outlet = Outlet::open({.session = kSession, .node = "n1", .listen = "nonsense", .connect = ""});
  ASSERT_FALSE(outlet);
  EXPECT_THAT(outlet.error().message, HasSubstr("'nonsense' is no endpoint"));
}

// ---- over tcp, where a key says who somebody is

class OutletDoor : public ::testing::Test {
 protected:
  const Keyring ring_;
  const std::unique_ptr<Outlet> outlet_ = std::move(
      *Outlet::open({.session = kSession, .node = "n1", .listen = "tcp://127.0.0.1:*", .key = ring_.files.server}));
};

TEST_F(OutletDoor, TakesNoCommandOfAViewerThatCallsItselfAnOperator) {
  Consumer viewer(*outlet_, outlet_->listen_endpoint(), ring_.files.viewers);
  viewer.say(wire::Attach{wire::Role::kOperator, 100});
  viewer.say(wire::Command{7, {}, wire::ClearOrder{}});
  EXPECT_THAT(viewer.hear<wire::Refusal>().reason, HasSubstr("spectator"));
  EXPECT_THAT(viewer.commands, IsEmpty());
}

/// One whose connection has a name of its own choice.
class Namesake {
 public:
  Namesake(const std::string& endpoint, const std::string& key_file) : socket_(context_, zmq::socket_type::dealer) {
    const auto key = *mailbox::read_client_key(key_file);
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::routing_id, "known");
    socket_.set(zmq::sockopt::curve_serverkey, key.server_key);
    socket_.set(zmq::sockopt::curve_publickey, key.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, key.secret_key);
    socket_.connect(endpoint);
  }
  void say(decltype(wire::Frame::body) body) {
    const auto bytes = wire::encode({kSession, "", 0, std::move(body)});
    socket_.send(zmq::buffer(bytes));
  }
  /// Until something of that kind has come.
  template <class Body>
  bool hears(Outlet& outlet, std::vector<wire::Command>& commands) {
    bool found = false;
    return run_until(
        [&] {
          for (auto& command : outlet.serve(std::chrono::milliseconds(1))) commands.push_back(command);
          zmq::message_t part;
          while (socket_.recv(part, zmq::recv_flags::dontwait)) {
            const auto frame = wire::decode({part.data<const std::byte>(), part.size()});
            found = found || (frame && std::holds_alternative<Body>(frame->body));
          }
        },
        [&] { return found; });
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
};

TEST_F(OutletDoor, TakesNoCommandOfAViewerWhoTakesTheNameOfAnOperatorThatIsGone) {
  std::vector<wire::Command> commands;
  {
    Namesake gone(outlet_->listen_endpoint(), ring_.files.operators);
    gone.say(wire::Attach{wire::Role::kOperator, 100});
    ASSERT_TRUE(gone.hears<wire::Credit>(*outlet_, commands));
  }
  ASSERT_EQ(outlet_->consumers(), 1);
  Namesake viewer(outlet_->listen_endpoint(), ring_.files.viewers);
  viewer.say(wire::Command{7, {}, wire::ClearOrder{}});
  EXPECT_TRUE(viewer.hears<wire::Hello>(*outlet_, commands));
  viewer.say(wire::Attach{wire::Role::kOperator, 100});
  viewer.say(wire::Command{8, {}, wire::ClearOrder{}});
  EXPECT_TRUE(viewer.hears<wire::Refusal>(*outlet_, commands));
  EXPECT_THAT(commands, IsEmpty());
}

TEST_F(OutletDoor, TakesTheCommandsOfAnOperator) {
  Consumer consumer(*outlet_, outlet_->listen_endpoint(), ring_.files.operators);
  consumer.say(wire::Attach{wire::Role::kOperator, 100});
  consumer.say(wire::Command{7, {}, wire::ClearOrder{}});
  EXPECT_TRUE(run_until([&] { consumer.turn(); }, [&] { return consumer.commands.size() == 1; }));
}

TEST_F(OutletDoor, ServesNoAgent) {
  Consumer agent(*outlet_, outlet_->listen_endpoint(), ring_.files.agents);
  agent.say(wire::Attach{wire::Role::kOperator, 100});
  EXPECT_EQ(agent.hear<wire::Refusal>().reason, "this key does not let anybody watch");
  EXPECT_EQ(outlet_->consumers(), 0);
}

}  // namespace
}  // namespace idlewave::outlet
