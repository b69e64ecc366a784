// Strangers at the door: who gets a message through a mailbox, and as whom.

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <zmq.hpp>

#include "probe/outlet/mailbox/mailbox.h"
#include "tests/link/child.h"
#include "tests/outlet/keyring.h"
#include "tests/sanitized.h"

namespace idlewave::mailbox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uid_t kNobody = 65534;

std::unique_ptr<Mailbox> opened(const Options& options) {
  auto mailbox = Mailbox::open(options);
  EXPECT_TRUE(mailbox) << mailbox.error().message;
  return std::move(*mailbox);
}

std::string error_of(const Options& options) {
  const auto mailbox = Mailbox::open(options);
  return mailbox ? "" : mailbox.error().message;
}

std::vector<std::byte> word(int number) { return std::vector<std::byte>(1, std::byte(number)); }

/// A key file of a role with a pair of keys that nobody admitted, for the session that `files` are the keys of.
std::string forged(const KeyFiles& files, const std::string& path) {
  std::array<char, 41> public_key{}, secret_key{};
  EXPECT_EQ(zmq_curve_keypair(public_key.data(), secret_key.data()), 0);
  std::ofstream(path) << "idlewave-key 1\nrole operator\npublic " << public_key.data() << "\nsecret "
                      << secret_key.data() << "\nserver " << read_server_key(files.server)->public_key << "\n";
  chmod(path.c_str(), 0600);
  return path;
}

/// One who listens on a port of this machine, and those who try it.
class Door : public ::testing::Test {
 protected:
  std::unique_ptr<Mailbox> visitor(const std::string& key) {
    return opened({.connect = house_->listen_endpoint(), .queue_messages = 10, .connect_key = key});
  }
  /// Tries until the message has gone, or the visitor knows that it never will.
  bool delivers(Mailbox& from, const std::vector<std::byte>& bytes) {
    bool sent = false;
    const auto settled = [&] {
      from.wait(milliseconds(1), -1);
      Message none;
      from.receive(none);
      sent = from.send("", bytes) == Sent::kYes;
      return sent || !from.refusal().empty();
    };
    EXPECT_TRUE(run_until([] {}, settled));
    return sent;
  }
  Message next_message() {
    Message message;
    EXPECT_TRUE(run_until([&] { house_->wait(milliseconds(10), -1); }, [&] { return house_->receive(message); }));
    return message;
  }
  /// What comes next is what the operator says now: nothing else was let in before.
  void only_the_operator_is_heard() {
    const auto proper = visitor(keys_.operators);
    ASSERT_TRUE(delivers(*proper, word(42)));
    EXPECT_EQ(next_message().bytes, word(42));
  }
  int port() const {
    const std::string endpoint = house_->listen_endpoint();
    return std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  }

  const Scratch scratch_;
  const Keyring ring_;
  const KeyFiles& keys_ = ring_.files;
  std::unique_ptr<Mailbox> house_ =
      opened({.listen = "tcp://127.0.0.1:*", .queue_messages = 10, .listen_key = keys_.server});
};

TEST_F(Door, LetsInEachRoleOfTheSessionAndKnowsWhichItIs) {
  for (const auto& [key, role] :
       {std::pair(keys_.operators, Role::kOperator), {keys_.viewers, Role::kViewer}, {keys_.agents, Role::kAgent}}) {
    const auto one = visitor(key);
    ASSERT_TRUE(delivers(*one, word(1))) << one->refusal();
    EXPECT_EQ(next_message().role, role) << key;
  }
}

TEST_F(Door, AnswersOverTheSameConnection) {
  const auto one = visitor(keys_.viewers);
  ASSERT_TRUE(delivers(*one, word(1)));
  ASSERT_EQ(house_->send(next_message().peer, word(2)), Sent::kYes);
  Message answer;
  ASSERT_TRUE(run_until([&] { one->wait(milliseconds(10), -1); }, [&] { return one->receive(answer); }));
  EXPECT_EQ(answer.bytes, word(2));
  EXPECT_EQ(answer.role, Role::kOwner);
}

TEST_F(Door, KeepsOutAKeyThatNobodyAdmittedAndSaysSo) {
  const auto stranger = visitor(forged(keys_, scratch_.file("key")));
  EXPECT_FALSE(delivers(*stranger, word(1)));
  EXPECT_THAT(stranger->refusal(), AllOf(HasSubstr(house_->listen_endpoint()), HasSubstr("our key was not accepted")));
  only_the_operator_is_heard();
}

TEST_F(Door, KeepsOutAKeyOfAnotherSessionAndSaysSo) {
  const Keyring other;
  const auto stranger = visitor(other.files.operators);
  EXPECT_FALSE(delivers(*stranger, word(1)));
  EXPECT_THAT(stranger->refusal(), AllOf(HasSubstr(house_->listen_endpoint()), HasSubstr("our key does not fit")));
  only_the_operator_is_heard();
}

TEST_F(Door, KeepsOutWhoShowsNoKey) {
  zmq::context_t context;
  zmq::socket_t plain(context, zmq::socket_type::dealer);
  plain.set(zmq::sockopt::linger, 0);
  zmq::socket_t events(context, zmq::socket_type::pair);
  // The second where the server has closed the connection before its greeting was read.
  constexpr int kRefused = ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
  ASSERT_EQ(zmq_socket_monitor(plain.handle(), "inproc://events", kRefused), 0);
  events.connect("inproc://events");
  events.set(zmq::sockopt::rcvtimeo, 60'000);
  plain.connect(house_->listen_endpoint());
  plain.send(zmq::str_buffer("let me in"));
  zmq::message_t failed;
  EXPECT_TRUE(events.recv(failed));
  only_the_operator_is_heard();
  events.close();
}

TEST_F(Door, ForgetsARefusalOnceItIsLetIn) {
  const std::string endpoint = house_->listen_endpoint();
  house_.reset();
  const Keyring other;
  auto another = opened({.listen = endpoint, .queue_messages = 10, .listen_key = other.files.server});
  const auto one = opened({.connect = endpoint, .queue_messages = 10, .connect_key = keys_.operators});
  EXPECT_FALSE(delivers(*one, word(1)));
  another.reset();
  const auto house = opened({.listen = endpoint, .queue_messages = 10, .listen_key = keys_.server});
  Message none;
  EXPECT_TRUE(run_until([&] { one->wait(milliseconds(10), -1); },
                        [&] { return one->receive(none) || one->refusal().empty(); }));
}

TEST(Mailbox, DoesNotListenOverTcpWithoutKeys) {
  EXPECT_THAT(error_of({.listen = "tcp://127.0.0.1:*", .queue_messages = 10}),
              HasSubstr("over tcp nothing listens without keys"));
}

TEST(Mailbox, DoesNotConnectOverTcpWithoutAKey) {
  EXPECT_THAT(error_of({.connect = "tcp://127.0.0.1:5555", .queue_messages = 10}),
              AllOf(HasSubstr("tcp://127.0.0.1:5555"), HasSubstr("key.operator or key.viewer"), HasSubstr("--key")));
}

TEST(Mailbox, SaysWhichKeyFileItCanNotUse) {
  const Keyring ring;
  EXPECT_THAT(error_of({.listen = "tcp://127.0.0.1:*", .queue_messages = 10, .listen_key = ring.files.agents}),
              HasSubstr(ring.files.agents));
  EXPECT_THAT(error_of({.connect = "tcp://127.0.0.1:1", .queue_messages = 10, .connect_key = ring.files.server}),
              HasSubstr(ring.files.server));
}

// ---- many who say nothing

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::size_t(std::distance(begin(all), end(all)));
}

/// Connections of programs that connect, perhaps say some bytes, and wait.
class Crowd {
 public:
  Crowd(int port, int size, const std::string& says) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < size; ++i) {
      sockets_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(connect(sockets_.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      EXPECT_EQ(::send(sockets_.back(), says.data(), says.size(), MSG_NOSIGNAL), ssize_t(says.size()));
    }
  }
  ~Crowd() {
    for (const int one : sockets_) close(one);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  /// The other side has closed each of them.
  bool all_shown_out() const {
    return run_until([] { usleep(10'000); },
                     [this] {
                       return std::ranges::all_of(sockets_, [](int one) {
                         std::array<char, 256> read_away;
                         ssize_t got;
                         while ((got = recv(one, read_away.data(), read_away.size(), MSG_DONTWAIT)) > 0) continue;
                         return got == 0 || errno == ECONNRESET;
                       });
                     });
  }

 private:
  std::vector<int> sockets_;
};

constexpr int kCrowd = 300;  // Twice in one process, with room in the usual 1024 descriptors.

TEST_F(Door, LetsTheOperatorInPastACrowdThatSaysNothing) {
  const Crowd silent(port(), kCrowd, "");
  only_the_operator_is_heard();
}

TEST_F(Door, ShowsOutWhoDoesNotSayWhoHeIsAndTakesItsDescriptorsBack) {
  const std::size_t before = open_descriptors();
  const std::string half_a_greeting("\xff\0\0\0\0\0\0\0\1\x7f\3", 11);
  {
    const Crowd silent(port(), kCrowd / 2, ""), slow(port(), kCrowd / 2, half_a_greeting);
    EXPECT_TRUE(silent.all_shown_out());
    EXPECT_TRUE(slow.all_shown_out());
  }
  EXPECT_TRUE(run_until([] { usleep(10'000); }, [&] { return open_descriptors() <= before; }));
}

TEST(CrowdedDoor, OpensAgainAfterMoreHaveComeThanThereAreDescriptorsFor) {
  const Keyring ring;
  const LinePipe told;
  Child house([&] {
    const rlimit few{200, 200};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 2;
    const auto mailbox = opened({.listen = "tcp://127.0.0.1:*", .queue_messages = 10, .listen_key = ring.files.server});
    told.write(mailbox->listen_endpoint());
    Message message;
    while (!mailbox->receive(message)) mailbox->wait(seconds(1), -1);
    return message.role == Role::kOperator ? 0 : 1;
  });
  const std::string endpoint = told.read();
  const Crowd silent(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)), kCrowd, "");
  const auto proper = opened({.connect = endpoint, .queue_messages = 10, .connect_key = ring.files.operators});
  // Said again until it is heard: what was sent on a connection that then broke is lost.
  const auto say_again = [&] {
    proper->wait(milliseconds(20), -1);
    for (Message none; proper->receive(none);) continue;
    proper->send("", word(1));
  };
  EXPECT_TRUE(run_until(say_again, [&] { return !house.running(); })) << "refused for: " << proper->refusal();
  EXPECT_EQ(house.wait(), 0);
}

TEST_F(Door, IsNotOpenedByNoise) {
  const Crowd noisy(port(), 20, std::string(10'000, '\x55'));
  EXPECT_TRUE(noisy.all_shown_out());
  only_the_operator_is_heard();
}

// ---- other users of this machine

/// Connects as `user`: true if the one who listens greets, false if it hangs up.
bool is_greeted(const std::string& path, uid_t user) {
  Child child([&] {
    if (user != geteuid() && setuid(user) != 0) return 2;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int one = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(one, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 3;
    char greeting = 0;
    return read(one, &greeting, 1) == 1 ? 0 : 1;
  });
  const int code = child.wait();
  EXPECT_TRUE(code == 0 || code == 1) << code;
  return code == 0;
}

TEST(Ipc, HangsUpOnAnotherUserWhateverThePermissionsAre) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const Scratch scratch;
  chmod(scratch.file(".").c_str(), 0755);
  const auto mailbox = opened({.listen = scratch.ipc("s"), .queue_messages = 10});
  ASSERT_EQ(chmod(scratch.file("s").c_str(), 0777), 0);
  EXPECT_TRUE(is_greeted(scratch.file("s"), geteuid()));
  EXPECT_FALSE(is_greeted(scratch.file("s"), kNobody));
}

TEST(Ipc, DoesNotConnectToAnotherUsersSocket) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const Scratch scratch;
  const auto mailbox = opened({.listen = scratch.ipc("s"), .queue_messages = 10});
  ASSERT_EQ(chown(scratch.file("s").c_str(), kNobody, kNobody), 0);
  EXPECT_THAT(error_of({.connect = scratch.ipc("s"), .queue_messages = 10}), HasSubstr("belongs to another user"));
}

// ---- where the system has nothing left

enum Outcome { kOpened, kSaidWhy, kSaidSomethingElse, kNoLimit };

/// What becomes of opening a mailbox under a limit; -1 if it ends the process.
int outcome_under_limit(int resource, rlim_t limit, const Options& options, const char* expected) {
  Child child([&] {
    if (resource == RLIMIT_NPROC && geteuid() == 0 && setuid(kNobody) != 0) return kNoLimit;  // It does not bind root.
    const rlimit bounds{limit, limit};
    if (setrlimit(__rlimit_resource(resource), &bounds) != 0) return kNoLimit;
    const std::string error = error_of(options);
    if (error.empty()) return kOpened;
    return error.find(expected) != std::string::npos && error.find('\n') == std::string::npos ? kSaidWhy
                                                                                              : kSaidSomethingElse;
  });
  return child.wait();
}

TEST(Mailbox, SaysThatDescriptorsAreMissingInsteadOfAborting) {
  const Keyring ring;
  const Options both{.listen = "tcp://127.0.0.1:*",
                     .connect = "tcp://127.0.0.1:1",
                     .queue_messages = 10,
                     .listen_key = ring.files.server,
                     .connect_key = ring.files.agents};
  constexpr rlim_t kTooFew = 32, kEnough = 60;
  for (rlim_t limit = 5; limit <= kEnough; ++limit) {
    const int outcome = outcome_under_limit(RLIMIT_NOFILE, limit, both, "no descriptors are left");
    if (limit <= kTooFew)
      EXPECT_EQ(outcome, kSaidWhy) << limit;
    else if (limit == kEnough)
      EXPECT_EQ(outcome, kOpened);
    else
      EXPECT_TRUE(outcome == kSaidWhy || outcome == kOpened) << limit << ": " << outcome;
  }
}

TEST(Mailbox, SaysThatThreadsAreMissingInsteadOfAborting) {
  const Options options{.connect = "ipc:///tmp/nobody", .queue_messages = 10};
  EXPECT_EQ(outcome_under_limit(RLIMIT_NPROC, 1, options, "(ulimit -u)"), kSaidWhy);
}

/// What this process has of it, as the kernel says ("VmData").
rlim_t kernels_count(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (rlim_t kilobytes = 0; word == field + ":" && status >> kilobytes) return kilobytes << 10;
  return 0;
}

TEST(Mailbox, NamesTheLimitThatLeavesNoRoomForStacks) {
  if (tests::kSanitized) GTEST_SKIP() << "a sanitizer takes more memory than such limits leave";
  const Options options{.connect = "ipc:///tmp/nobody", .queue_messages = 10};
  constexpr rlim_t kLessThanAStack = 4 << 20;
  EXPECT_EQ(outcome_under_limit(RLIMIT_DATA, kernels_count("VmData") + kLessThanAStack, options, "(ulimit -d)"),
            kSaidWhy);
  EXPECT_EQ(outcome_under_limit(RLIMIT_AS, kernels_count("VmSize") + kLessThanAStack, options, "(ulimit -v)"),
            kSaidWhy);
}

}  // namespace
}  // namespace idlewave::mailbox
