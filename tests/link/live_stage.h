#pragma once
// Senders and a monitor that attaches to them or listens, turn by turn in one thread.

#include <memory>
#include <string>
#include <vector>

#include "probe/outlet/mailbox/mailbox.h"
#include "tests/link/stage.h"

namespace idlewave::link {

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
  std::unique_ptr<mailbox::Mailbox> a_stranger() {
    return std::move(*mailbox::Mailbox::open({.connect = endpoint_, .queue_messages = 100}));
  }
  void tell(mailbox::Mailbox& stranger, const std::vector<std::byte>& bytes) {
    turn_until([&] { return stranger.send("", bytes) == mailbox::Sent::kYes; });
  }
  void tell(mailbox::Mailbox& stranger, const std::string& node, decltype(wire::Frame::body) body,
            std::uint64_t number = 0) {
    tell(stranger, wire::encode({kSession, node, number, std::move(body)}));
  }
};

/// Made 5 s after the session began, by a clock that has nothing to do with others.
inline wire::Roster roster_that_says(std::int64_t began_wall) {
  wire::Roster roster = roster_of(4);
  roster.node_time = seconds(77'000);
  roster.began = roster.node_time - seconds(5);
  roster.unix_time_ns = began_wall + 5'000'000'000;
  return roster;
}

}  // namespace idlewave::link
