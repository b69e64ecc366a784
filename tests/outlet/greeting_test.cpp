// The sending end that connects to a monitor which listens.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "probe/outlet/mailbox/mailbox.h"
#include "tests/outlet/consumer.h"

namespace idlewave::outlet {
namespace {

using mailbox::Mailbox;
using mailbox::Message;
using std::chrono::milliseconds;

/// A monitor that is spoken by hand, and an outlet that was told to connect to it and listens for others too.
class Greeting : public OutletTest {
 protected:
  template <class Done>
  bool serve_until(Done done) {
    return run_until([this] { outlet_->serve(milliseconds(1)); }, done);
  }
  bool is_greeted() {
    return serve_until([this] { return monitor_->receive(hello_); });
  }
  void say(decltype(wire::Frame::body) body, const std::string& session = kSession) {
    monitor_->send(hello_.peer, wire::encode({session, "", 0, std::move(body)}));
  }
  bool is_joined() {
    say(wire::Attach{wire::Role::kOperator, 10});
    return serve_until([this] { return outlet_->consumers() == 1; });
  }

  const std::string ours_ = scratch_.ipc("m");
  std::unique_ptr<Mailbox> monitor_ = std::move(*Mailbox::open({.listen = ours_, .queue_messages = 100}));
  std::unique_ptr<Outlet> outlet_ =
      std::move(*Outlet::open({.session = kSession, .node = "n1", .listen = endpoint_, .connect = ours_}));
  Message hello_;
};

TEST_F(Greeting, IsSaidUntilTheMonitorAttaches) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(is_greeted());
    EXPECT_TRUE(std::holds_alternative<wire::Hello>(wire::decode(hello_.bytes)->body));
  }
  EXPECT_TRUE(is_joined());
}

TEST_F(Greeting, LearnsWhenTheSessionBeganFromThatMonitorAlone) {
  Consumer other(*outlet_, endpoint_);
  other.say(wire::Attach{wire::Role::kOperator, 10});
  other.hear<wire::Credit>();
  other.say(wire::Credit{10, 4711});
  other.say(wire::Command{1, {}, wire::ClearOrder{}});
  ASSERT_TRUE(run_until([&] { other.turn(); }, [&] { return !other.commands.empty(); }));
  EXPECT_EQ(outlet_->told_beginning(), std::nullopt);
  ASSERT_TRUE(is_greeted());
  say(wire::Attach{wire::Role::kOperator, 10});
  say(wire::Credit{0, 1'700'000'000'000'000'000});
  EXPECT_TRUE(serve_until([this] { return outlet_->told_beginning().has_value(); }));
  EXPECT_EQ(outlet_->told_beginning(), 1'700'000'000'000'000'000);
}

/// The monitor attaches anew after a break of the connection, in which nobody went.
TEST_F(Greeting, KeepsTheNoiseOfAMonitorThatAttachesAnewAndEndsItWhenThatGoes) {
  const wire::Command noise{7, {}, wire::NoiseOrder{.amount = milliseconds(1), .ends_with_giver = true}};
  std::vector<wire::Command> commands;
  const auto serve_for = [&](std::size_t count) {
    return run_until([&] { std::ranges::move(outlet_->serve(milliseconds(1)), std::back_inserter(commands)); },
                     [&] { return commands.size() >= count; });
  };
  ASSERT_TRUE(is_greeted());
  ASSERT_TRUE(is_joined());
  say(noise);
  ASSERT_TRUE(serve_for(1));
  say(wire::Attach{wire::Role::kOperator, 10});
  say(wire::Command{8, {3}, wire::DelayOrder{milliseconds(1)}});  // Comes after that.
  ASSERT_TRUE(serve_for(2));
  EXPECT_EQ(commands[1].id, 8u);
  say(wire::EndAck{});
  ASSERT_TRUE(serve_for(3));
  EXPECT_EQ(commands[2], (wire::Command{7 | wire::kEndsNoise, {}, wire::ClearOrder{7}}));
}

TEST_F(Greeting, RemembersWhyTheMonitorRefusedIt) {
  ASSERT_TRUE(is_greeted());
  say(wire::Refusal{"no water here"}, "wine");
  EXPECT_TRUE(serve_until([this] { return outlet_->refusal() == "no water here"; }));
}

TEST_F(Greeting, ForgetsThatItWasRefusedOnceItIsTaken) {
  ASSERT_TRUE(is_greeted());
  say(wire::Refusal{"this node reports over another connection"}, "");
  ASSERT_TRUE(serve_until([this] { return !outlet_->refusal().empty(); }));
  ASSERT_TRUE(is_joined());
  EXPECT_EQ(outlet_->refusal(), "");
}

TEST_F(Greeting, LetsItSleepUntilThereIsSomethingToDoOnceItHasBeenHeard) {
  ASSERT_TRUE(is_greeted());
  ASSERT_TRUE(is_joined());
  rusage before{}, after{};
  getrusage(RUSAGE_THREAD, &before);
  outlet_->serve(std::chrono::seconds(1));
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 20);
}

}  // namespace
}  // namespace idlewave::outlet
