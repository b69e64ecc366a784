#pragma once
// An outlet, and a consumer of it that is spoken by hand, message for message.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "probe/outlet/mailbox/mailbox.h"
#include "probe/outlet/outlet.h"
#include "probe/wire/codec.h"
#include "tests/outlet/scratch.h"

namespace idlewave::outlet {

inline constexpr const char* kSession = "water";

inline wire::Events events(int number, std::size_t bytes = 10) {
  return {wire::Nanoseconds(number), std::vector<std::byte>(bytes, std::byte(number))};
}

inline wire::Roster roster_of(wire::Rank ranks) {
  wire::Roster roster;
  roster.world_size = ranks;
  return roster;
}

inline std::unique_ptr<Outlet> outlet_at(const std::string& endpoint, std::uint64_t buffer_bytes = 1u << 20) {
  auto outlet = Outlet::open(
      {.session = kSession, .node = "n1", .listen = endpoint, .connect = "", .buffer_bytes = buffer_bytes});
  EXPECT_TRUE(outlet) << outlet.error().message;
  return std::move(*outlet);
}

/// A consumer that does exactly what it is told.
class Consumer {
 public:
  Consumer(Outlet& outlet, const std::string& endpoint, const std::string& key = {})
      : outlet_(outlet),
        mailbox_(
            std::move(*mailbox::Mailbox::open({.connect = endpoint, .queue_messages = 10'000, .connect_key = key}))) {}

  void say_bytes(const std::vector<std::byte>& bytes) {
    EXPECT_TRUE(run_until([&] { outlet_.serve(std::chrono::milliseconds(1)); },
                          [&] { return mailbox_->send("", bytes) == mailbox::Sent::kYes; }));
  }
  void say(decltype(wire::Frame::body) body, const std::string& session = kSession) {
    say_bytes(wire::encode({session, "", 0, std::move(body)}));
  }
  /// Without waiting until it has gone.
  void whisper(decltype(wire::Frame::body) body) {
    mailbox_->send("", wire::encode({kSession, "", 0, std::move(body)}));
  }
  /// Serves until frame number `sequence` has come.
  void hear_up_to(std::uint64_t sequence) {
    EXPECT_TRUE(run_until([&] { turn(); }, [&] { return !numbers().empty() && numbers().back() >= sequence; }));
  }
  template <class Body>
  Body hear() {
    const auto is_it = [](const wire::Frame& frame) { return std::holds_alternative<Body>(frame.body); };
    EXPECT_TRUE(run_until([&] { turn(); }, [&] { return std::ranges::any_of(heard, is_it); }));
    const auto found = std::ranges::find_if(heard, is_it);
    if (found == heard.end()) return {};
    const Body body = std::get<Body>(found->body);
    heard.erase(found);
    return body;
  }
  void turn() {
    for (auto& command : outlet_.serve(std::chrono::milliseconds(1))) commands.push_back(command);
    for (mailbox::Message message; mailbox_->receive(message);) heard.push_back(*wire::decode(message.bytes));
  }
  std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> numbers;
    for (const auto& frame : heard)
      if (wire::is_sequenced(frame)) numbers.push_back(frame.sequence);
    return numbers;
  }

  std::vector<wire::Frame> heard;
  std::vector<wire::Command> commands;

 private:
  Outlet& outlet_;
  std::unique_ptr<mailbox::Mailbox> mailbox_;
};

class OutletTest : public ::testing::Test {
 protected:
  const Scratch scratch_;
  const std::string endpoint_ = scratch_.ipc("s");
};

}  // namespace idlewave::outlet
