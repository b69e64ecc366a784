#include "probe/outlet/mailbox/mailbox.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/outlet/scratch.h"

namespace idlewave::mailbox {
namespace {

std::unique_ptr<Mailbox> open(const Options& options) { return std::move(*Mailbox::open(options)); }

/// Sends until no more goes in, and leaves.
void flood(const std::string& endpoint) {
  const auto stranger = open({.connect = endpoint, .queue_messages = 10});
  const std::vector<std::byte> junk(10'000);
  ASSERT_TRUE(run_until([] { usleep(1000); }, [&] { return stranger->send("", junk) == Sent::kYes; }));
  for (int refused = 0; refused < 100;) {
    if (stranger->send("", junk) == Sent::kYes) continue;
    usleep(1000);
    ++refused;
  }
}

TEST(Mailbox, SurvivesAStrangerThatFillsItsQueueAndLeaves) {
  const Scratch scratch;
  const auto mailbox = open({.listen = scratch.ipc("s"), .queue_messages = 10});
  flood(scratch.ipc("s"));
  sleep(3);  // ZeroMQ's timers go on.
  Message message;
  int received = 0;
  for (; mailbox->receive(message); ++received) mailbox->wait(std::chrono::milliseconds(1), -1);
  EXPECT_GE(received, 10);
}

TEST(Mailbox, SaysThatANamelessPeerIsGone) {
  const Scratch scratch;
  const auto mailbox = open({.listen = scratch.ipc("s"), .queue_messages = 10});
  EXPECT_EQ(mailbox->send("nobody", std::vector<std::byte>(1)), Sent::kGone);
}

TEST(Mailbox, QueuesNothingForAPeerThatIsNotThere) {
  const Scratch scratch;
  const auto mailbox = open({.connect = scratch.ipc("s"), .queue_messages = 10});
  EXPECT_EQ(mailbox->send("", std::vector<std::byte>(1)), Sent::kFull);
}

}  // namespace
}  // namespace idlewave::mailbox
