// The gate at a port, with a listener behind it that admits whom it is told to.

#include "probe/outlet/mailbox/gate.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <deque>
#include <random>
#include <string>

#include "tests/any_seed.h"
#include "tests/link/child.h"
#include "tests/outlet/scratch.h"

namespace idlewave::mailbox {
namespace {

using ::testing::Le;

constexpr std::size_t kHeld = 1 << 20;
const std::string kSignature = std::string("\xff\0\0\0\0\0\0\0\1\x7f", 10);
const std::string kGreeting = kSignature + std::string(54, '\0');
const std::string kReady = std::string("\4\10\5READYxx", 10);

class Peer {
 public:
  explicit Peer(int fd = -1) : fd_(fd) {}
  Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Peer& operator=(Peer&& other) noexcept { return std::swap(fd_, other.fd_), *this; }
  ~Peer() { hang_up(); }
  void hang_up() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

  int fd() const { return fd_; }
  /// As much as is taken now.
  std::size_t say(std::string_view text) const {
    const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return std::size_t(std::max<ssize_t>(sent, 0));
  }
  /// What is there, at the end of what was heard.
  bool hear(std::string& heard) const {
    char bytes[1 << 16];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
    heard.append(bytes, std::size_t(std::max<ssize_t>(got, 0)));
    return got > 0;
  }
  bool was_shown_out() const {
    char byte = 0;
    const ssize_t got = ::recv(fd_, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

 private:
  int fd_;
};

void look_again() { usleep(1000); }

/// Stands for ZeroMQ.
class House {
 public:
  House() : name_(secret_name()), listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name_.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    const auto size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
    EXPECT_EQ(::bind(listener_.fd(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.fd(), 1000), 0);
  }
  const std::string& name() const { return name_; }
  /// False: nobody came within moments.
  bool anybody_comes() const {
    pollfd one{listener_.fd(), POLLIN, 0};
    return ::poll(&one, 1, 300) > 0;
  }
  Peer let_in() const {
    int fd = -1;
    EXPECT_TRUE(
        run_until(look_again, [&] { return (fd = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0; }));
    return Peer(fd);
  }

 private:
  const std::string name_;
  const Peer listener_;
};

class GateTest : public ::testing::Test {
 protected:
  std::unique_ptr<Gate> opened() const {
    auto gate = Gate::open({.endpoint = "tcp://127.0.0.1:*", .inner = house_.name(), .most_held = kHeld});
    EXPECT_TRUE(gate) << gate.error().message;
    return std::move(*gate);
  }
  Peer come() const {
    const std::string& endpoint = gate_->endpoint();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return Peer(fd);
  }
  struct Pair {
    Peer guest, host;
  };
  Pair admitted() const {
    Pair pair{come(), Peer()};
    pair.guest.say(kSignature);
    pair.host = house_.let_in();
    pair.host.say(kGreeting + kReady);
    std::string heard;
    EXPECT_TRUE(run_until(look_again, [&] { return pair.guest.hear(heard), heard == kGreeting + kReady; }));
    EXPECT_TRUE(run_until(look_again,
                          [&, said = std::string()]() mutable { return pair.host.hear(said), said == kSignature; }));
    return pair;
  }

  /// What comes of somebody who says without end.
  static std::string heard_until_held_back(const Pair& pair) {
    const std::string more(64 << 10, 'x');
    std::string heard;
    std::size_t quiet = 0;
    EXPECT_TRUE(run_until([&] { pair.guest.say(more), quiet = pair.host.hear(heard) ? 0 : quiet + 1, look_again(); },
                          [&] { return quiet > 300; }));
    return heard;
  }

  const House house_;
  const std::unique_ptr<Gate> gate_ = opened();
};

TEST_F(GateTest, PassesWhatBothSayByteForByte) {
  std::mt19937 random(any_seed());
  Pair pair = admitted();
  std::string up(300'000, '\0'), down(300'000, '\0'), heard_up, heard_down;
  for (char& byte : up) byte = char(random());
  for (char& byte : down) byte = char(random());
  std::size_t said_up = 0, said_down = 0;
  const auto chunk = [&](const std::string& all, std::size_t from) {
    return std::string_view(all).substr(from, 1 + random() % 40'000);
  };
  EXPECT_TRUE(run_until(
      [&] {
        said_up += pair.guest.say(chunk(up, said_up));
        said_down += pair.host.say(chunk(down, said_down));
        const std::size_t before = heard_up.size();
        pair.host.hear(heard_up);
        gate_->note_read(pair.host.fd(), heard_up.size() - before);
        pair.guest.hear(heard_down);
      },
      [&] { return heard_up.size() == up.size() && heard_down.size() == down.size(); }));
  EXPECT_TRUE(heard_up == up);
  EXPECT_TRUE(heard_down == down);
}

TEST_F(GateTest, TakesNoMoreOfAStrangerThanAHandshake) {
  const Peer stranger = come();
  stranger.say(kGreeting);
  const Peer host = house_.let_in();
  host.say(kGreeting);
  std::string heard;
  EXPECT_TRUE(run_until([&] { stranger.say(std::string(100'000, 'x')), host.hear(heard); },
                        [&] { return stranger.was_shown_out(); }));
  while (host.hear(heard)) continue;
  EXPECT_THAT(heard.size(), Le(4096u));
}

TEST_F(GateTest, LeadsNobodyInWhoDoesNotBeginAsPeersDo) {
  const Peer silent = come(), noisy = come();
  noisy.say("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(run_until(look_again, [&] { return noisy.was_shown_out(); }));
  EXPECT_FALSE(house_.anybody_comes());
  EXPECT_TRUE(run_until(look_again, [&] { return silent.was_shown_out(); }));
}

TEST_F(GateTest, ShowsOutWhoIsNotAdmittedInTime) {
  const Peer slow = come();
  slow.say(kSignature);
  const Peer host = house_.let_in();
  host.say(kGreeting);
  std::string heard;
  EXPECT_TRUE(run_until(look_again, [&] { return slow.hear(heard), heard == kGreeting && slow.was_shown_out(); }));
}

TEST_F(GateTest, HoldsBackWhoSaysMoreThanIsReadAndLetsHimGoOn) {
  const Pair pair = admitted();
  std::string heard = heard_until_held_back(pair);
  EXPECT_EQ(heard.size(), kHeld);
  gate_->note_read(pair.host.fd(), 100'000);
  EXPECT_TRUE(run_until([&] { pair.host.hear(heard), look_again(); }, [&] { return heard.size() >= kHeld + 100'000; }));
  EXPECT_THAT(heard.size(), Le(kHeld + 100'000 + 64));
}

TEST_F(GateTest, TakesWhatIsReadForOneConnectionOnlyForThatOne) {
  const Pair greedy = admitted(), other = admitted();
  std::string heard = heard_until_held_back(greedy);
  gate_->note_read(other.host.fd(), kHeld);
  usleep(100'000);
  EXPECT_FALSE(greedy.host.hear(heard));
  EXPECT_EQ(heard.size(), kHeld);
}

TEST_F(GateTest, EndsOneSideWithTheOtherWhenAllHasPassed) {
  Pair first = admitted(), second = admitted();
  const std::string last_words(10'000, 'w');
  first.guest.say(last_words);
  first.guest.hang_up();
  std::string heard;
  EXPECT_TRUE(run_until(look_again, [&] { return first.host.hear(heard), heard.size() == last_words.size(); }));
  EXPECT_TRUE(run_until(look_again, [&] { return first.host.was_shown_out(); }));
  second.host.say(last_words);
  second.host.hang_up();
  heard.clear();
  EXPECT_TRUE(run_until(look_again, [&] { return second.guest.hear(heard), heard.size() == last_words.size(); }));
  EXPECT_TRUE(run_until(look_again, [&] { return second.guest.was_shown_out(); }));
}

TEST_F(GateTest, EndsWhoHasGoneWhileHeWasHeldBack) {
  for (const int by_reset : {0, 1}) {
    Pair pair = admitted();
    std::string heard = heard_until_held_back(pair);
    const linger how{.l_onoff = by_reset, .l_linger = 0};
    ASSERT_EQ(setsockopt(pair.guest.fd(), SOL_SOCKET, SO_LINGER, &how, sizeof how), 0);
    pair.guest.hang_up();
    EXPECT_TRUE(run_until(look_again, [&] { return pair.host.hear(heard), pair.host.was_shown_out(); })) << by_reset;
  }
}

TEST_F(GateTest, SleepsWhileNobodyTakesWhatIsLeft) {
  Pair pair = admitted();
  const std::string more(64 << 10, 'x');
  std::size_t full = 0;
  EXPECT_TRUE(
      run_until([&] { full = pair.host.say(more) > 0 ? 0 : full + 1, look_again(); }, [&] { return full > 300; }));
  pair.host.hang_up();
  usleep(100'000);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  usleep(500'000);
  getrusage(RUSAGE_SELF, &after);
  const auto in_us = [](const rusage& use) {
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1'000'000 + use.ru_utime.tv_usec + use.ru_stime.tv_usec;
  };
  EXPECT_LT(in_us(after) - in_us(before), 50'000);
}

TEST_F(GateTest, LetsSomebodyInPastStrangersWhoCrowdIt) {
  std::deque<Peer> crowd;
  for (int i = 0; i < 300; ++i) crowd.push_back(come());
  const Pair pair = admitted();
  EXPECT_GE(pair.host.fd(), 0);
}

/// A program that may have few descriptors, with guests who are admitted and say nothing.
TEST(CrowdedGate, LetsGoOfWhoHasBeenSilentForLongest) {
  Child child([] {
    const rlimit few{600, 600};  // A sixth of them at the gate.
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 2;
    struct Room : GateTest {
      void TestBody() override {}
      int play() {
        std::deque<Pair> guests;
        for (int i = 0; i < 100; ++i) guests.push_back(admitted());
        guests[0].guest.say("still here");
        std::string heard;
        if (!run_until(look_again, [&] { return guests[0].host.hear(heard); })) return 3;
        guests.push_back(admitted());
        if (!run_until(look_again, [&] { return guests[1].guest.was_shown_out(); })) return 4;
        return guests[0].guest.was_shown_out() || guests[2].guest.was_shown_out() ? 5 : 0;
      }
    };
    return Room().play();
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Gate, SaysWhatItCanNotListenAt) {
  const auto there = Gate::open({.endpoint = "tcp://127.0.0.1:*", .inner = secret_name(), .most_held = kHeld});
  ASSERT_TRUE(there);
  const auto taken = Gate::open({.endpoint = (*there)->endpoint(), .inner = secret_name(), .most_held = kHeld});
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, ::testing::HasSubstr("is taken"));
  for (const char* endpoint : {"tcp://0.0.0.0:*", "tcp://*:*", "tcp://[::1]:*", "tcp://lo:*"})
    EXPECT_TRUE(Gate::open({.endpoint = endpoint, .inner = secret_name(), .most_held = kHeld})) << endpoint;
  for (const char* endpoint : {"tcp://192.0.2.1:*", "tcp://localhost:*", "tcp://no-such-interface:*"})
    EXPECT_FALSE(Gate::open({.endpoint = endpoint, .inner = secret_name(), .most_held = kHeld})) << endpoint;
}

}  // namespace
}  // namespace idlewave::mailbox
