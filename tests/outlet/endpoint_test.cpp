#include "probe/outlet/mailbox/endpoint.h"

#include <gmock/gmock.h>

#include <fstream>

#include "probe/outlet/mailbox/mailbox.h"
#include "tests/outlet/keyring.h"
#include "tests/outlet/scratch.h"

namespace idlewave::mailbox {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string error_of_listening(const std::string& endpoint) {
  const Keyring ring;
  auto mailbox = Mailbox::open({.listen = endpoint, .queue_messages = 10, .listen_key = ring.files.server});
  return mailbox ? "" : mailbox.error().message;
}

std::string error_of_connecting(const std::string& endpoint) {
  auto mailbox = Mailbox::open({.connect = endpoint, .queue_messages = 10});
  return mailbox ? "" : mailbox.error().message;
}

TEST(Endpoint, SaysWhatAMalformedOneShouldLookLike) {
  for (const char* endpoint :
       {"5555", "localhost:5555", "tcp:/", "tcp://", "ipc://", "udp://127.0.0.1:5555", "inproc://x", "tcp://127.0.0.1",
        "tcp://127.0.0.1:99999", "tcp://127.0.0.1:port", "ipc://@anybody", "\n"}) {
    EXPECT_THAT(error_of_listening(endpoint), AllOf(HasSubstr("no endpoint"), HasSubstr("tcp://HOST:PORT")))
        << endpoint;
  }
}

TEST(Endpoint, IsDesertedOnlyWhereNobodyCanBe) {
  const Scratch scratch;
  const std::string endpoint = scratch.ipc("s");
  EXPECT_TRUE(is_deserted(endpoint));
  {
    auto mailbox = Mailbox::open({.listen = endpoint, .queue_messages = 10});
    ASSERT_TRUE(mailbox);
    EXPECT_FALSE(is_deserted(endpoint));
  }
  EXPECT_TRUE(is_deserted(endpoint));
  EXPECT_FALSE(is_deserted("tcp://127.0.0.1:1"));
}

TEST(Endpoint, SaysTheSameWhenConnecting) {
  for (const char* endpoint : {"5555", "tcp://127.0.0.1", "tcp://127.0.0.1:*", "tcp://127.0.0.1:99999"})
    EXPECT_THAT(error_of_connecting(endpoint), HasSubstr("no endpoint")) << endpoint;
}

TEST(Endpoint, SaysWhenATcpPortIsTakenAndWhatToChoose) {
  const Keyring ring;
  auto first = Mailbox::open({.listen = "tcp://127.0.0.1:*", .queue_messages = 10, .listen_key = ring.files.server});
  ASSERT_TRUE(first) << first.error().message;
  const std::string endpoint = (*first)->listen_endpoint();
  EXPECT_EQ(error_of_listening(endpoint),
            endpoint + " is taken by another program; choose another port or tcp://127.0.0.1:* for any free one");
}

TEST(Endpoint, SaysWhenAnIpcPathIsTakenAndLeavesItAlone) {
  const Scratch scratch;
  auto first = Mailbox::open({.listen = scratch.ipc("s"), .queue_messages = 10});
  ASSERT_TRUE(first);
  EXPECT_THAT(error_of_listening(scratch.ipc("s")), HasSubstr("is taken by another program"));
  EXPECT_TRUE(std::filesystem::exists(scratch.file("s")));
}

TEST(Endpoint, ReplacesTheSocketFileOfADeadProgram) {
  const Scratch scratch;
  {
    auto dead = Mailbox::open({.listen = scratch.ipc("dead"), .queue_messages = 10});
    ASSERT_TRUE(dead);
    std::filesystem::rename(scratch.file("dead"), scratch.file("s"));  // As if it could not remove it.
  }
  ASSERT_TRUE(std::filesystem::exists(scratch.file("s")));
  EXPECT_EQ(error_of_listening(scratch.ipc("s")), "");
}

TEST(Endpoint, NeverRemovesAFileThatIsNoSocket) {
  const Scratch scratch;
  std::ofstream(scratch.file("thesis.tex")) << "three years";
  EXPECT_THAT(error_of_listening(scratch.ipc("thesis.tex")), HasSubstr("is not a socket"));
  EXPECT_EQ(std::filesystem::file_size(scratch.file("thesis.tex")), 11u);
}

TEST(Endpoint, SaysWhenTheFolderOfAnIpcPathIsMissing) {
  const Scratch scratch;
  EXPECT_THAT(error_of_listening(scratch.ipc("no/such/s")), HasSubstr("the folder does not exist"));
}

TEST(Endpoint, SaysWhenAnIpcPathIsTooLong) {
  const Scratch scratch;
  EXPECT_THAT(error_of_listening(scratch.ipc(std::string(120, 'x'))), HasSubstr("choose a shorter one"));
}

TEST(Endpoint, SaysWhenTheAddressIsNotOfThisMachine) {
  EXPECT_THAT(error_of_listening("tcp://192.0.2.1:*"), HasSubstr("no such address"));
}

TEST(Endpoint, ErrorsAreOneLine) {
  for (const char* endpoint : {"5555", "tcp://192.0.2.1:*", "ipc:///no/such/s"})
    EXPECT_THAT(error_of_listening(endpoint), AllOf(Not(HasSubstr("\n")), Not(StartsWith("error")))) << endpoint;
}

TEST(Endpoint, IsToldWithThePortThatWasFree) {
  const Keyring ring;
  auto mailbox = Mailbox::open({.listen = "tcp://127.0.0.1:*", .queue_messages = 10, .listen_key = ring.files.server});
  ASSERT_TRUE(mailbox);
  EXPECT_THAT((*mailbox)->listen_endpoint(), AllOf(StartsWith("tcp://127.0.0.1:"), Not(HasSubstr("*"))));
}

}  // namespace
}  // namespace idlewave::mailbox
