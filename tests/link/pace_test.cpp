// How fresh frames have to be, as those who send them hear it.

#include "tests/link/stage.h"

namespace idlewave::link {
namespace {

class Pace : public ::testing::Test {
 protected:
  void turn() {
    if (sender_) sender_->serve(milliseconds(0));
    link_->wait(milliseconds(1), -1);
    link_->receive(clock_now(), got_);
    EXPECT_NE(link_->status().state, LinkState::kRefused) << link_->status().detail;
  }
  bool becomes(Nanoseconds pace) {
    return run_until([this] { turn(); }, [&] { return sender_->pace() == pace; });
  }

  const Scratch scratch_;
  const std::string endpoint_ = scratch_.ipc("s");
  std::unique_ptr<Link> link_ = link_to({.endpoint = endpoint_});  // It does not know the session's name.
  std::unique_ptr<outlet::Outlet> sender_;
  std::vector<Delivery> got_;
};

TEST_F(Pace, IsHeardByASenderThatComesLater) {
  link_->set_pace(milliseconds(250));
  for (int i = 0; i < 100; ++i) turn();
  sender_ = outlet_at(endpoint_);
  sender_->send(roster_of(4));
  EXPECT_TRUE(becomes(milliseconds(250)));
  EXPECT_EQ(sender_->strange_messages(), 0u);
}

TEST_F(Pace, ChangesWhileASenderIsThere) {
  sender_ = outlet_at(endpoint_);
  sender_->send(roster_of(4));
  EXPECT_TRUE(becomes(milliseconds(0)));
  link_->set_pace(milliseconds(250));
  EXPECT_TRUE(becomes(milliseconds(250)));
  link_->set_pace(milliseconds(0));
  EXPECT_TRUE(becomes(milliseconds(0)));
  EXPECT_EQ(sender_->strange_messages(), 0u);
}

}  // namespace
}  // namespace idlewave::link
