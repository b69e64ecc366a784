// Both ends of a tunnel in this process: agents connect to one of them, and the other goes on at a host's socket.

#include "monitor/link/tunnel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <functional>
#include <random>

#include "tests/any_seed.h"
#include "tests/link/stage.h"

namespace idlewave::link {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Bytes = std::vector<std::byte>;

constexpr const char* kOurGreeting = "idlewave-agents\t1\twater\n";

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// Closed with its owner, and never blocks.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {
    if (fd_ >= 0) fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket() { close(); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  static Socket listening_at(const std::string& path) {
    const sockaddr_un address = address_of(path);
    Socket socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(socket.fd(), 64), 0);
    return socket;
  }
  static Socket connected_to(const std::string& path) {
    const sockaddr_un address = address_of(path);
    Socket socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  Socket accepted() const { return Socket(accept(fd_, nullptr, nullptr)); }

  /// As many as go.
  std::size_t write(std::span<const std::byte> bytes) const {
    const ssize_t count = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return count > 0 ? std::size_t(count) : 0;
  }
  /// Appends what is there; false: the other end has gone.
  bool read(Bytes& into) const {
    std::byte buffer[8192];
    ssize_t count = 0;
    while ((count = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT)) > 0)
      into.insert(into.end(), buffer, buffer + count);
    return count < 0 && errno == EAGAIN;
  }
  bool is_at_its_end() const {
    Bytes ignored;
    return !read(ignored);
  }

 private:
  int fd_;
};

struct Ends {
  Socket read, write;
};
Ends a_pipe() {
  int ends[2];
  if (pipe(ends) != 0) abort();
  return {Socket(ends[0]), Socket(ends[1])};
}

class TunnelTest : public ::testing::Test {
 protected:
  TunnelTest() { signal(SIGPIPE, SIG_IGN); }

  void turn() {
    agents_.serve();
    host_.serve();
  }
  bool turn_until(const std::function<bool()>& done) {
    return run_until([&] { turn(); }, done);
  }
  /// An agent, and where its connection arrives.
  std::pair<Socket, Socket> connection() {
    std::pair<Socket, Socket> both{Socket::connected_to(at_agents_), Socket()};
    EXPECT_TRUE(turn_until([&] { return bool(both.second = at_host_listener_.accepted()); }));
    return both;
  }

  Scratch scratch_;
  std::string at_agents_ = scratch_.file("a"), at_host_ = scratch_.file("h");
  Socket at_agents_listener_ = Socket::listening_at(at_agents_), at_host_listener_ = Socket::listening_at(at_host_);
  Ends up_ = a_pipe(), down_ = a_pipe();
  AgentsEnd agents_{down_.read.fd(), up_.write.fd(), at_agents_listener_.fd(), "water"};
  HostsEnd host_{up_.read.fd(), down_.write.fd(), "water", at_host_};
};

/// One direction of a connection.
struct Flow {
  const Socket* from;
  const Socket* to;
  Bytes sent{};
  std::size_t written = 0;
  Bytes arrived{};

  void move(std::size_t most) {
    written += from->write(std::span(sent).subspan(written, std::min(most, sent.size() - written)));
    to->read(arrived);
  }
};

Bytes random_bytes(std::mt19937_64& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = std::byte(random());
  return bytes;
}

TEST_F(TunnelTest, CarriesManyConnectionsBothWaysByteForByte) {
  std::mt19937_64 random(any_seed());
  std::deque<std::pair<Socket, Socket>> connections;
  std::deque<Flow> flows;
  for (int i = 0; i < 20; ++i) {
    const auto& [agent, host] = connections.emplace_back(connection());
    flows.push_back({&agent, &host, random_bytes(random, random() % 1'000'000)});
    flows.push_back({&host, &agent, random_bytes(random, random() % 1'000'000)});
  }
  const auto move = [&] {
    for (Flow& flow : flows) flow.move(random() % 50'000);
    turn();
  };
  const auto has_all = [](const Flow& flow) { return flow.arrived.size() == flow.sent.size(); };
  ASSERT_TRUE(run_until(move, [&] { return std::ranges::all_of(flows, has_all); }));
  for (const Flow& flow : flows) ASSERT_EQ(flow.arrived, flow.sent);
  EXPECT_THAT(agents_.cut() + host_.cut(), IsEmpty());
}

TEST_F(TunnelTest, BringsWhatWasSentBeforeAConnectionClosed) {
  std::mt19937_64 random(any_seed());
  auto [agent, host] = connection();
  const Bytes sent = random_bytes(random, 100'000);
  ASSERT_EQ(agent.write(sent), sent.size());
  agent.close();
  Bytes arrived;
  EXPECT_TRUE(turn_until([&] { return !host.read(arrived); }));
  EXPECT_EQ(arrived, sent);
  EXPECT_TRUE(turn_until([&] { return !agents_.has_channels(); }));
}

TEST_F(TunnelTest, ClosesAnAgentsConnectionWithTheHosts) {
  auto [agent, host] = connection();
  host.close();
  EXPECT_TRUE(turn_until([&] { return agent.is_at_its_end(); }));
  EXPECT_TRUE(turn_until([&] { return !agents_.has_channels(); }));
  const auto again = connection();
  EXPECT_TRUE(again.second);
}

TEST_F(TunnelTest, ClosesAConnectionThatNobodyTakesAndGoesOn) {
  unlink(at_host_.c_str());
  const Socket agent = Socket::connected_to(at_agents_);
  EXPECT_TRUE(turn_until([&] { return agent.is_at_its_end(); }));
  EXPECT_THAT(agents_.cut() + host_.cut(), IsEmpty());
}

/// Whose reader stands still is stopped when the window is full, and all others go on.
TEST_F(TunnelTest, StopsTheWriterOfASlowReaderAndNobodyElse) {
  const Bytes much(100'000, std::byte{7});
  auto [slow_agent, slow_host] = connection();
  auto [agent, host] = connection();
  std::size_t taken = 0;
  Flow quick{&agent, &host, Bytes(20'000'000, std::byte{9})};
  const auto move = [&] { taken += slow_agent.write(much), quick.move(50'000), turn(); };
  ASSERT_TRUE(run_until(move, [&] { return quick.arrived.size() == quick.sent.size(); }));
  EXPECT_LT(taken, kWindow + 1'500'000u);  // With what the kernel keeps of three sockets.
  Bytes late;
  ASSERT_TRUE(turn_until([&] { return slow_host.read(late), late.size() == taken; }));
}

TEST_F(TunnelTest, OfWhichOneEndHasGoneClosesAllAtTheOther) {
  auto [agent, host] = connection();
  up_.write.close(), down_.read.close();
  EXPECT_TRUE(run_until([&] { host_.serve(); }, [&] { return !host_.cut().empty(); }));
  EXPECT_EQ(host_.cut(), "the stream has ended");
  EXPECT_TRUE(host.is_at_its_end());
}

TEST_F(TunnelTest, OfWhichTheHostHasGoneLetsItsAgentsGo) {
  auto [agent, host] = connection();
  down_.write.close();
  EXPECT_TRUE(run_until([&] { agents_.serve(); }, [&] { return !agents_.cut().empty(); }));
  EXPECT_TRUE(agents_.has_ended());
  EXPECT_TRUE(agent.is_at_its_end());
}

TEST_F(TunnelTest, BringsTheLastWordsOfBothSides) {
  EXPECT_FALSE(agents_.is_told_to_finish());
  host_.finish();
  ASSERT_TRUE(turn_until([&] { return agents_.is_told_to_finish(); }));
  EXPECT_FALSE(host_.is_done());
  agents_.say_all({"n2, process 7: no room", std::string(5000, 'x'), ""});
  ASSERT_TRUE(turn_until([&] { return host_.is_done(); }));
  EXPECT_TRUE(agents_.has_said_all());
  EXPECT_EQ(host_.troubles(), (std::vector<std::string>{"n2, process 7: no room", std::string(kMostTrouble, 'x')}));
}

TEST_F(TunnelTest, TakesNoMoreConnectionsThanItHasRoomFor) {
  std::deque<Socket> agents;
  for (std::size_t i = 0; i < kMostChannels + 10; ++i) agents.push_back(Socket::connected_to(at_agents_)), turn();
  std::deque<Socket> taken;
  const auto take = [&] {
    turn();
    if (Socket one = at_host_listener_.accepted()) taken.push_back(std::move(one));
  };
  EXPECT_TRUE(run_until(take, [&] { return taken.size() == kMostChannels; }));
  agents.pop_front();
  EXPECT_TRUE(run_until(take, [&] { return taken.size() == kMostChannels + 1; }));
  EXPECT_THAT(agents_.cut() + host_.cut(), IsEmpty());
}

/// One end, and somebody who writes to it whatever comes to mind.
class HostileTunnel : public TunnelTest {
 protected:
  static Bytes bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  static Bytes frame(TunnelKind kind, std::uint32_t channel = 0, const Bytes& body = {}) {
    Bytes bytes;
    append_frame(bytes, {kind, channel, body});
    return bytes;
  }
  static Bytes joined(std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  /// A host's end that was sent this behind the greeting; why it is cut.
  std::string host_sent(const Bytes& bytes) {
    const Ends in = a_pipe(), out = a_pipe();
    HostsEnd host(in.read.fd(), out.write.fd(), "water", at_host_);
    feed(in.write, joined({bytes_of(kOurGreeting), bytes}), host);
    EXPECT_TRUE(host.is_up());
    return host.cut();
  }
  std::string agents_sent(const Bytes& bytes) {
    const Ends in = a_pipe(), out = a_pipe();
    AgentsEnd agents(in.read.fd(), out.write.fd(), at_agents_listener_.fd(), "water");
    const Socket agent = Socket::connected_to(at_agents_);
    agents.serve();  // Channel 1.
    feed(in.write, bytes, agents);
    return agents.cut();
  }
  /// Until it is cut, or has all.
  template <class End>
  static void feed(const Socket& to, const Bytes& bytes, End& end) {
    for (std::size_t at = 0; at < bytes.size() && end.cut().empty(); end.serve()) {
      const ssize_t count = ::write(to.fd(), bytes.data() + at, bytes.size() - at);
      if (count > 0) at += std::size_t(count);
    }
    for (int i = 0; i < 4; ++i) end.serve();
  }
};

TEST_F(HostileTunnel, IsCutByWhatIsNoFrame) {
  const Bytes length_of_all = {
      std::byte(TunnelKind::kData), {}, {}, {}, {}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
  for (const Bytes& bytes :
       {bytes_of("shutdown in 5 minutes"), Bytes(9, std::byte{0}), Bytes(1, std::byte{9}), length_of_all}) {
    EXPECT_THAT(host_sent(bytes), HasSubstr("between two frames came what is none"));
    EXPECT_THAT(agents_sent(bytes), HasSubstr("between two frames came what is none"));
  }
}

TEST_F(HostileTunnel, IsCutByWhatIsOutOfPlace) {
  using enum TunnelKind;
  const Bytes open = frame(kOpen, 3), close = frame(kClose, 3), some = Bytes(10);
  Bytes too_much = open;
  // With what the kernel takes for the socket, which is given back as room.
  for (std::size_t sent = 0; sent <= 8 * kWindow; sent += kMostTunnelBody)
    too_much = joined({too_much, frame(kData, 3, Bytes(kMostTunnelBody))});
  for (const Bytes& bytes :
       {frame(kData, 3, some), close, frame(kTaken, 3, body_of(1)), joined({open, open}), joined({open, close, close}),
        joined({open, close, frame(kData, 3, some)}), joined({open, frame(kTaken, 3, body_of(1))}),
        joined({open, frame(kTaken, 3, body_of(0))}), too_much, frame(kFinish), frame(kSign)})
    EXPECT_THAT(host_sent(bytes), HasSubstr("out of place"));
  for (const Bytes& bytes : {frame(kOpen, 3), frame(kDone), frame(kTrouble, 0, some), frame(kData, 2, some),
                             frame(kTaken, 1, body_of(kWindow)), joined({frame(kClose, 1), frame(kClose, 1)})})
    EXPECT_THAT(agents_sent(bytes), HasSubstr("out of place"));
}

TEST_F(HostileTunnel, IsCutByMoreConnectionsThanThereIsRoomFor) {
  Bytes bytes;
  for (std::uint32_t i = 1; i <= kMostChannels + 1; ++i) bytes = joined({bytes, frame(TunnelKind::kOpen, i)});
  EXPECT_THAT(host_sent(bytes), HasSubstr("out of place"));
}

TEST_F(HostileTunnel, IsCutByLinesWithoutEnd) {
  Bytes bytes;
  for (int i = 0; i < 100; ++i) bytes = joined({bytes, frame(TunnelKind::kTrouble, 0, Bytes(10))});
  EXPECT_THAT(host_sent(bytes), HasSubstr("out of place"));
}

TEST_F(HostileTunnel, EndsInNothingWorseWhateverComes) {
  std::mt19937_64 random(any_seed());
  for (int round = 0; round < 300; ++round) {
    Bytes bytes;
    for (int i = 0; i < 40; ++i) {
      const bool is_frame = random() % 30 != 0;
      const auto kind = TunnelKind(1 + random() % 8);
      Bytes some = is_frame ? frame(kind, std::uint32_t(random() % 4),
                                    kind == TunnelKind::kTaken ? body_of(std::uint32_t(random() % 99))
                                    : kind == TunnelKind::kData || kind == TunnelKind::kTrouble
                                        ? random_bytes(random, 1 + random() % 900)
                                        : Bytes())
                            : random_bytes(random, random() % 20);
      bytes.insert(bytes.end(), some.begin(), some.end());
    }
    host_sent(bytes);
    agents_sent(bytes);
  }
}

class GreetedTunnel : public HostileTunnel {
 protected:
  std::string why_cut(const std::string& text) {
    const Ends in = a_pipe(), out = a_pipe();
    HostsEnd host(in.read.fd(), out.write.fd(), "water", at_host_);
    feed(in.write, bytes_of(text), host);
    return host.cut();
  }
};

TEST_F(GreetedTunnel, PassesOverWhatAShellPrints) {
  EXPECT_THAT(why_cut(std::string("Welcome to n2!\nidlewave-agents are loved here\n") + kOurGreeting), IsEmpty());
}

TEST_F(GreetedTunnel, IsOfOneVersionAndOneSession) {
  EXPECT_THAT(why_cut("idlewave-agents\t2\twater\n"), HasSubstr("version 2 of the stream, and this program 1"));
  EXPECT_THAT(why_cut("idlewave-agents\t1\tfire\n"), HasSubstr("session 'fire'"));
  EXPECT_THAT(why_cut("idlewave-agents\t1\twater\r\n"), HasSubstr("ssh -t"));
  EXPECT_THAT(why_cut("idlewave-agents\t1\twater\tfire\n"), HasSubstr("damaged"));
}

TEST_F(GreetedTunnel, IsNotWaitedForWithoutEnd) {
  std::string text;
  while (text.size() < 2 * kMostNoise) text += "sir\n";
  EXPECT_THAT(why_cut(text), HasSubstr("leads to no idlewave, but said 'sir\\x0asir"));
}

TEST(TunnelFrames, ComeInPieces) {
  Bytes bytes;
  const Bytes body(300, std::byte{5});
  append_frame(bytes, {TunnelKind::kData, 0x01020304, body});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(first_frame(std::span(bytes).first(size))) << size;
  EXPECT_EQ(bytes.back(), std::byte{'\n'});  // srun keeps the rest of a line to itself.
  const auto frame = first_frame(bytes);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->channel, 0x01020304u);
  EXPECT_TRUE(std::ranges::equal((*frame)->body, body));
}

}  // namespace
}  // namespace idlewave::link
