// The sending end that connects to a monitor which listens.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "probe/outlet/mailbox/mailbox.h"
#include "tests/outlet/consumer.h"

namespace idlewave::outlet {
namespace {

/// Of a monitor that has been told to listen there.
using Greeting = OutletTest;
using mailbox::Mailbox;
using mailbox::Message;
using std::chrono::milliseconds;

TEST_F(Greeting, GreetsAMonitorThatListensUntilItAttaches) {
  auto monitor = std::move(*Mailbox::open({.listen = endpoint_, .queue_messages = 100}));
  auto outlet = std::move(*Outlet::open({.session = kSession, .node = "n1", .listen = "", .connect = endpoint_}));
  Message hello;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(10)); }, [&] { return monitor->receive(hello); }));
    EXPECT_TRUE(std::holds_alternative<wire::Hello>(wire::decode(hello.bytes)->body));
  }
  monitor->send(hello.peer, wire::encode({kSession, "", 0, wire::Attach{wire::Role::kOperator, 10}}));
  EXPECT_TRUE(run_until([&] { outlet->serve(milliseconds(1)); }, [&] { return outlet->consumers() == 1; }));
}

TEST_F(Greeting, LearnsWhenTheSessionBeganFromTheMonitorThatItWasToldToConnectToAlone) {
  const std::string ours = scratch_.ipc("m");
  auto monitor = std::move(*Mailbox::open({.listen = ours, .queue_messages = 100}));
  auto outlet = std::move(*Outlet::open({.session = kSession, .node = "n1", .listen = endpoint_, .connect = ours}));
  Consumer other(*outlet, endpoint_);
  other.say(wire::Attach{wire::Role::kOperator, 10});
  other.hear<wire::Credit>();
  other.say(wire::Credit{10, 4711});
  other.say(wire::Command{1, {}, wire::ClearOrder{}});
  ASSERT_TRUE(run_until([&] { other.turn(); }, [&] { return !other.commands.empty(); }));
  EXPECT_EQ(outlet->told_beginning(), std::nullopt);
  Message hello;
  ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(10)); }, [&] { return monitor->receive(hello); }));
  monitor->send(hello.peer, wire::encode({kSession, "", 0, wire::Attach{wire::Role::kOperator, 10}}));
  monitor->send(hello.peer, wire::encode({kSession, "", 0, wire::Credit{0, 1'700'000'000'000'000'000}}));
  EXPECT_TRUE(run_until([&] { outlet->serve(milliseconds(1)); }, [&] { return outlet->told_beginning().has_value(); }));
  EXPECT_EQ(outlet->told_beginning(), 1'700'000'000'000'000'000);
}

TEST_F(Greeting, RemembersWhyAMonitorRefusedIt) {
  auto monitor = std::move(*Mailbox::open({.listen = endpoint_, .queue_messages = 100}));
  auto outlet = std::move(*Outlet::open({.session = kSession, .node = "n1", .listen = "", .connect = endpoint_}));
  Message hello;
  ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(10)); }, [&] { return monitor->receive(hello); }));
  monitor->send(hello.peer, wire::encode({"wine", "", 0, wire::Refusal{"no water here"}}));
  EXPECT_TRUE(run_until([&] { outlet->serve(milliseconds(1)); }, [&] { return outlet->refusal() == "no water here"; }));
}

TEST_F(Greeting, ForgetsThatItWasRefusedOnceItIsTaken) {
  auto monitor = std::move(*Mailbox::open({.listen = endpoint_, .queue_messages = 100}));
  auto outlet = std::move(*Outlet::open({.session = kSession, .node = "n1", .listen = "", .connect = endpoint_}));
  Message hello;
  ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(10)); }, [&] { return monitor->receive(hello); }));
  monitor->send(hello.peer, wire::encode({"", "", 0, wire::Refusal{"this node reports over another connection"}}));
  ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(1)); }, [&] { return !outlet->refusal().empty(); }));
  monitor->send(hello.peer, wire::encode({kSession, "", 0, wire::Attach{wire::Role::kOperator, 10}}));
  ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(1)); }, [&] { return outlet->consumers() == 1; }));
  EXPECT_EQ(outlet->refusal(), "");
}

TEST_F(Greeting, SleepsUntilThereIsSomethingToDoOnceItHasBeenHeard) {
  auto monitor = std::move(*Mailbox::open({.listen = endpoint_, .queue_messages = 100}));
  auto outlet = std::move(*Outlet::open({.session = kSession, .node = "n1", .listen = "", .connect = endpoint_}));
  Message hello;
  ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(10)); }, [&] { return monitor->receive(hello); }));
  monitor->send(hello.peer, wire::encode({kSession, "", 0, wire::Attach{wire::Role::kOperator, 10}}));
  ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(1)); }, [&] { return outlet->consumers() == 1; }));
  rusage before{}, after{};
  getrusage(RUSAGE_THREAD, &before);
  outlet->serve(std::chrono::seconds(1));
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 20);
}

}  // namespace
}  // namespace idlewave::outlet
