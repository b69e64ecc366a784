// Who is let in by which key.

#include "monitor/link/link.h"
#include "tests/link/live_stage.h"

namespace idlewave::link {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

}  // namespace
}  // namespace idlewave::link
