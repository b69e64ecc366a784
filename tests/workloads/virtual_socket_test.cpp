// Real processes in a virtual socket. Times are compared with one another and with what sharing predicts from below
// only: a busy machine may make anything later, and nothing earlier.

#include "workloads/kernels/virtual_socket.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "workloads/support/pause.h"

namespace idlewave::kernels {
namespace {

using namespace std::chrono_literals;
using support::monotonic_now;
using wire::Nanoseconds;

constexpr std::uint64_t kMegabyte = 1'000'000;
// 1 MB takes 1 ms alone and with one other; saturates at 2
const BandwidthCurve kCurve = BandwidthCurve::saturating(1e9, 2e9);

VirtualSocket make_socket(int seats) {
  auto socket = VirtualSocket::create(seats, kCurve);
  EXPECT_TRUE(socket) << (socket ? "" : socket.error().message);
  return std::move(*socket);
}

/// A process in one of the socket's seats.
class Member {
 public:
  Member(VirtualSocket& socket, int seat, const std::function<void(VirtualSocket&)>& life) : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(60);
    auto own = VirtualSocket::open(getppid(), socket.descriptor(), kCurve);
    if (!own) _exit(3);
    own->take_seat(seat);
    life(*own);
    _exit(0);
  }
  Member(Member&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ~Member() {
    if (pid_ > 0) kill_and_wait();
  }

  void kill_and_wait() {
    kill(pid_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

Nanoseconds time_of(const std::function<void()>& work) {
  const Nanoseconds start = monotonic_now();
  work();
  return monotonic_now() - start;
}

/// Until the others have moved something.
void wait_for_traffic(VirtualSocket& socket) {
  const Nanoseconds deadline = monotonic_now() + 20s;
  while (socket.bytes_moved() == 0 && monotonic_now() < deadline) std::this_thread::sleep_for(1ms);
}

TEST(VirtualSocket, TakesAsLongAsTheTrafficOfALoneMemberTakes) {
  VirtualSocket socket = make_socket(4);
  socket.take_seat(0);
  EXPECT_GE(time_of([&] { socket.move(30 * kMegabyte); }), 30ms);
}

TEST(VirtualSocket, CountsFromWhenAMemberWasReady) {
  VirtualSocket socket = make_socket(2);
  socket.take_seat(0);
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds ready = monotonic_now();
    std::this_thread::sleep_for(5ms);
    EXPECT_NEAR(double((socket.move(30 * kMegabyte, ready) - ready).count()), 30e6, 2);
  }
  EXPECT_EQ(socket.bytes_moved(), 90 * kMegabyte);
}

TEST(VirtualSocket, TakesNobodyForReadyLongAgo) {
  VirtualSocket socket = make_socket(1);
  socket.take_seat(0);
  const Nanoseconds now = monotonic_now();
  EXPECT_GE(socket.move(30 * kMegabyte, now - 10s), now + 30ms - VirtualSocket::kMostLate);
}

TEST(VirtualSocket, SaysWhenTheWorkWasDoneHoweverLongItWasOverslept) {
  VirtualSocket socket = make_socket(2);
  socket.take_seat(0);
  Member late(socket, 1, [](VirtualSocket& own) {
    const Nanoseconds ready = monotonic_now();
    if (own.move(30 * kMegabyte, ready) - ready > 30ms + 1us) _exit(4);
  });
  wait_for_traffic(socket);
  kill(late.pid(), SIGSTOP);
  std::this_thread::sleep_for(100ms);
  kill(late.pid(), SIGCONT);
  EXPECT_EQ(late.wait(), 0);
}

TEST(VirtualSocket, SharesItsBandwidthAmongProcesses) {
  VirtualSocket socket = make_socket(8);
  const auto move = [](VirtualSocket& own) { own.move(50 * kMegabyte); };
  const Nanoseconds together = time_of([&] {
    std::vector<Member> members;
    for (int seat = 0; seat < 8; ++seat) members.emplace_back(socket, seat, move);
    for (Member& member : members) EXPECT_EQ(member.wait(), 0);
  });
  EXPECT_GE(together, 200ms);  // 8 x 50 MB at 2 GB/s
}

TEST(VirtualSocket, CountsTheBytesOfAllItsMembers) {
  VirtualSocket socket = make_socket(3);
  std::vector<Member> members;
  for (int seat = 0; seat < 3; ++seat) {
    members.emplace_back(socket, seat, [](VirtualSocket& own) {
      for (int i = 0; i < 10; ++i) own.move(kMegabyte);
    });
  }
  for (Member& member : members) EXPECT_EQ(member.wait(), 0);
  EXPECT_EQ(socket.bytes_moved(), 30 * kMegabyte);
}

TEST(VirtualSocket, GivesASurvivorItsFullShareSoonAfterTheOthersWereKilled) {
  VirtualSocket socket = make_socket(5);
  std::vector<Member> doomed;
  for (int seat = 1; seat < 5; ++seat)
    doomed.emplace_back(socket, seat, [](VirtualSocket& own) { own.move(1'000'000 * kMegabyte); });
  wait_for_traffic(socket);
  for (Member& member : doomed) member.kill_and_wait();
  socket.take_seat(0);
  const std::uint64_t before = socket.bytes_moved();
  socket.move(1000 * kMegabyte);
  // Had the four dead kept their shares, the domain would have moved five times the survivor's bytes.
  EXPECT_LT(socket.bytes_moved() - before, 2 * 1000 * kMegabyte);
}

TEST(VirtualSocket, IsNotBlockedByAMemberThatIsKilledAtAnyMoment) {
  VirtualSocket socket = make_socket(3);
  socket.take_seat(0);
  for (int round = 0; round < 40; ++round) {
    Member busy(socket, 1, [](VirtualSocket& own) {
      for (;;) own.move(1);
    });
    Member other(socket, 2, [](VirtualSocket& own) {
      for (;;) own.bytes_moved();
    });
    std::this_thread::sleep_for(std::chrono::microseconds{500 + 137 * round});
    busy.kill_and_wait();
    other.kill_and_wait();
    socket.move(1000);
  }
}

TEST(VirtualSocket, GivesTheSeatOfTheDeadToAnother) {
  VirtualSocket socket = make_socket(2);
  Member first(socket, 1, [](VirtualSocket& own) { own.move(1'000'000 * kMegabyte); });
  wait_for_traffic(socket);
  first.kill_and_wait();
  Member second(socket, 1, [](VirtualSocket& own) { own.move(kMegabyte); });
  EXPECT_EQ(second.wait(), 0);
}

TEST(VirtualSocket, LetsTheOthersGoOnWhileAMemberIsStopped) {
  VirtualSocket socket = make_socket(2);
  socket.take_seat(0);
  Member stopped(socket, 1, [](VirtualSocket& own) { own.move(10 * kMegabyte); });
  wait_for_traffic(socket);
  kill(stopped.pid(), SIGSTOP);
  socket.move(50 * kMegabyte);
  EXPECT_EQ(socket.bytes_moved(), 60 * kMegabyte);
}

TEST(VirtualSocket, OutlivesTheProcessThatMadeIt) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t maker = fork();
  if (maker == 0) {
    VirtualSocket socket = make_socket(2);
    const int descriptor = socket.descriptor();
    if (write(pipe_ends[1], &descriptor, sizeof descriptor) != sizeof descriptor) _exit(1);
    pause();
  }
  int descriptor = -1;
  ASSERT_EQ(read(pipe_ends[0], &descriptor, sizeof descriptor), static_cast<ssize_t>(sizeof descriptor));
  auto socket = VirtualSocket::open(maker, descriptor, kCurve);
  kill(maker, SIGKILL);
  waitpid(maker, nullptr, 0);
  ASSERT_TRUE(socket) << socket.error().message;
  socket->take_seat(1);
  socket->move(kMegabyte);
  EXPECT_EQ(socket->bytes_moved(), kMegabyte);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(VirtualSocket, IsNotFoundInAProcessThatIsGone) {
  const auto socket = VirtualSocket::open(0x3fffffff, 3, kCurve);
  ASSERT_FALSE(socket);
  EXPECT_THAT(socket.error().message, testing::HasSubstr("can't be opened"));
}

TEST(VirtualSocket, IsNotMistakenForOtherMemory) {
  auto memory = support::SharedMemory::create(4096);
  ASSERT_TRUE(memory);
  EXPECT_FALSE(VirtualSocket::open(getpid(), memory->descriptor(), kCurve));
}

TEST(VirtualSocket, DoesNotWaitForNothing) {
  VirtualSocket socket = make_socket(1);
  socket.take_seat(0);
  socket.move(0);
  EXPECT_EQ(socket.bytes_moved(), 0u);
}

}  // namespace
}  // namespace idlewave::kernels
