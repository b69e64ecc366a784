#include "probe/outlet/mailbox/stream.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <deque>
#include <random>

#include "probe/wire/frame.h"
#include "tests/any_seed.h"

namespace idlewave::mailbox {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Bytes = std::vector<std::byte>;

/// A pipe whose writing end does not block.
struct Ends {
  Ends() {
    signal(SIGPIPE, SIG_IGN);
    if (pipe2(fds.data(), O_NONBLOCK) != 0) abort();
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    close_reading();
    close_writing();
  }
  void close_reading() { close(std::exchange(fds[0], -1)); }
  void close_writing() { close(std::exchange(fds[1], -1)); }
  void write(std::string_view text) const {
    if (::write(fds[1], text.data(), text.size()) != ssize_t(text.size())) abort();
  }
  std::array<int, 2> fds{};
};

Bytes bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

TEST(Stream, CarriesMessagesOfAnySizeInOrderHoweverTheyAreCutUp) {
  std::mt19937 dice(any_seed());
  Ends there, back;
  Stream sender(back.fds[0], there.fds[1]), receiver(there.fds[0], back.fds[1]);
  std::deque<Bytes> under_way;
  int sent = 0, received = 0;
  while (received < 500) {
    Bytes message(1 + dice() % (dice() % 8 == 0 ? 300'000 : 300));
    for (std::byte& byte : message) byte = std::byte(dice());
    if (sent < 500 && sender.send(message) == Sent::kYes) ++sent, under_way.push_back(message);
    sender.flush();
    for (Bytes got; dice() % 3 != 0 && receiver.receive(got); ++received) {
      ASSERT_EQ(got, under_way.front());
      under_way.pop_front();
    }
  }
}

TEST(Stream, TakesOneMessageAndNoMoreForAReaderThatDoesNotRead) {
  Ends there, back;
  Stream stream(back.fds[0], there.fds[1]);
  EXPECT_EQ(stream.send(Bytes(1 << 20)), Sent::kYes);
  EXPECT_EQ(stream.send(Bytes(1)), Sent::kFull);
}

TEST(Stream, GivesWhatCameBeforeItEnded) {
  Ends there, back;
  Stream sender(back.fds[0], there.fds[1]), receiver(there.fds[0], back.fds[1]);
  sender.send(bytes_of("last words"));
  there.close_writing();
  Bytes got;
  ASSERT_TRUE(receiver.receive(got));
  EXPECT_EQ(got, bytes_of("last words"));
  EXPECT_THAT(receiver.cut(), IsEmpty());
  EXPECT_FALSE(receiver.receive(got));
  EXPECT_THAT(receiver.cut(), HasSubstr("ended"));
}

TEST(Stream, IsCutWhereNobodyReadsAnyMore) {
  Ends there, back;
  Stream stream(back.fds[0], there.fds[1]);
  there.close_reading();
  EXPECT_EQ(stream.send(Bytes(1)), Sent::kGone);
  Bytes got;
  EXPECT_FALSE(stream.receive(got));
  EXPECT_THAT(stream.cut(), HasSubstr("nobody reads"));
}

TEST(Stream, QuotesWhatIsNoFrame) {
  Ends there, back;
  Stream stream(there.fds[0], back.fds[1]);
  there.write("Broadcast message\x1b[31m: the machine goes down");
  Bytes got;
  EXPECT_FALSE(stream.receive(got));
  EXPECT_THAT(stream.cut(), HasSubstr("'Broadcast message\\x1b[31m: the machine"));
}

/// What passes on whole lines keeps nothing back.
TEST(Stream, EndsEachMessageByALineFeedAndTakesNoOther) {
  Ends there, back;
  Stream sender(back.fds[0], there.fds[1]);
  sender.send(bytes_of("ab"));
  char sent[16];
  ASSERT_EQ(read(there.fds[0], sent, sizeof sent), 7);
  EXPECT_EQ(std::string(sent, 7), std::string("\2\0\0\0ab\n", 7));
  Stream receiver(there.fds[0], back.fds[1]);
  there.write({"\2\0\0\0abWelcome", 13});
  Bytes got;
  EXPECT_FALSE(receiver.receive(got));
  EXPECT_THAT(receiver.cut(), HasSubstr("'Welcome'"));
}

TEST(Stream, TakesNoLengthThatNoFrameHas) {
  for (const std::size_t length : {std::size_t(0), wire::kMaxFrameBytes + 1}) {
    Ends there, back;
    Stream stream(there.fds[0], back.fds[1]);
    const auto number = std::uint32_t(length);
    there.write({reinterpret_cast<const char*>(&number), sizeof number});
    Bytes got;
    EXPECT_FALSE(stream.receive(got));
    EXPECT_THAT(stream.cut(), HasSubstr("none"));
  }
}

}  // namespace
}  // namespace idlewave::mailbox
