// The stream between processes that are slow, stopped and killed.

#include "monitor/link/link.h"
#include "tests/link/child.h"
#include "tests/link/stage.h"
#include "tests/sanitized.h"

namespace idlewave::link {
namespace {

using ::testing::HasSubstr;

/// Receives until the stream has ended properly and the sender knows it; every `nap_every`th round it sleeps.
std::vector<Delivery> read_to_the_end(Link& link, int nap_every) {
  std::vector<Delivery> got;
  int round = 0;
  const auto step = [&] {
    link.wait(milliseconds(20), -1);
    if (++round % nap_every == 0) usleep(3000);
    link.receive(clock_now(), got);
  };
  EXPECT_TRUE(run_until(step, [&] { return link.status().state == LinkState::kEnded; })) << "after " << got.size();
  link.receive(clock_now(), got);
  return got;
}

int send_many(const outlet::Options& options, std::uint64_t frames, const LinePipe* tell) {
  auto outlet = open_outlet(options);
  if (tell != nullptr) tell->write(outlet->listen_endpoint());
  for (std::uint64_t i = 1; i < frames; ++i) {
    outlet->send(events(i));
    if (i % 100 == 0) outlet->serve(Nanoseconds(0));
  }
  return outlet->finish(seconds(30)) ? 0 : 1;
}

constexpr std::uint64_t kFrames = 1000;  // With the End.
constexpr int kRuns = 50;                // In each direction: a hundred over each transport.

/// The monitor connects to a sender that listens.
void every_frame_arrives_from(const std::string& listen, const mailbox::KeyFiles& keys) {
  const LinePipe endpoint;
  Child sender([&] {
    return send_many({.session = kSession, .node = "n1", .listen = listen, .listen_key = keys.server}, kFrames,
                     &endpoint);
  });
  auto link = link_to({.endpoint = endpoint.read(), .key = keys.operators, .credits = 64});
  ASSERT_EQ(numbers_of(read_to_the_end(*link, 3)), up_to(kFrames));
  ASSERT_EQ(sender.wait(), 0);
}

/// The sender connects to a monitor that listens.
void every_frame_arrives_at(const std::string& listen, const mailbox::KeyFiles& keys) {
  const LinePipe endpoint;
  Child sender([&] {
    return send_many({.session = kSession, .node = "n1", .connect = endpoint.read(), .key = keys.agents}, kFrames,
                     nullptr);
  });
  auto link = link_to({.endpoint = listen, .listen = true, .key = keys.server, .credits = 64});
  endpoint.write(bound_endpoint(*link));
  ASSERT_EQ(numbers_of(read_to_the_end(*link, 3)), up_to(kFrames));
  ASSERT_EQ(sender.wait(), 0);
}

class EveryFrame : public ::testing::TestWithParam<bool> {
 protected:
  std::string listen() const { return GetParam() ? scratch_.ipc("s") : "tcp://127.0.0.1:*"; }
  const Scratch scratch_;
  const Keyring ring_;
};
INSTANTIATE_TEST_SUITE_P(Over, EveryFrame, ::testing::Bool(),
                         [](const auto& over) { return over.param ? "ipc" : "tcp"; });

TEST_P(EveryFrame, ArrivesInEveryRunAtASlowMonitorThatConnects) {
  for (int run = 0; run < kRuns && !HasFatalFailure(); ++run) every_frame_arrives_from(listen(), ring_.files);
}

TEST_P(EveryFrame, ArrivesInEveryRunAtASlowMonitorThatListens) {
  for (int run = 0; run < kRuns && !HasFatalFailure(); ++run) every_frame_arrives_at(listen(), ring_.files);
}

class ProcessTest : public ::testing::Test {
 protected:
  const Scratch scratch_;
  const std::string endpoint_ = scratch_.ipc("s");
};

TEST_F(ProcessTest, TheSenderStaysUntilItsEndIsAcknowledged) {
  const LinePipe endpoint;
  Child sender([&] { return send_many({.session = kSession, .node = "n1", .listen = endpoint_}, 10, &endpoint); });
  auto link = link_to({.endpoint = endpoint.read()});
  std::vector<Delivery> got;
  ASSERT_TRUE(run_until([&] { link->wait(milliseconds(1), -1), link->receive(clock_now(), got); },
                        [&] { return link->status().state == LinkState::kEnded; }));
  usleep(300'000);
  EXPECT_TRUE(sender.running());
  link->receive(clock_now(), got);
  EXPECT_EQ(sender.wait(), 0);
}

TEST_F(ProcessTest, TheSenderLeavesWhenTheMonitorThatHasTheEndIsDestroyed) {
  const LinePipe endpoint;
  Child sender([&] { return send_many({.session = kSession, .node = "n1", .listen = endpoint_}, 10, &endpoint); });
  auto link = link_to({.endpoint = endpoint.read()});
  std::vector<Delivery> got;
  ASSERT_TRUE(run_until([&] { link->wait(milliseconds(1), -1), link->receive(clock_now(), got); },
                        [&] { return link->status().state == LinkState::kEnded; }));
  link.reset();
  EXPECT_EQ(sender.wait(), 0);
}

TEST_F(ProcessTest, AKilledMonitorDoesNotHoldUpTheSender) {
  Child monitor([&] {
    auto link = link_to({.endpoint = endpoint_});
    std::vector<Delivery> got;
    for (;;) link->wait(seconds(1), -1), link->receive(clock_now(), got);
    return 0;
  });
  auto outlet = outlet_at(endpoint_);
  std::uint64_t number = 0;
  const auto send_one = [&] { outlet->send(events(++number)), outlet->serve(milliseconds(1)); };
  ASSERT_TRUE(run_until(send_one, [&] { return outlet->consumers() == 1 && number > 100; }));
  monitor.kill(SIGKILL);
  ASSERT_TRUE(run_until(send_one, [&] { return outlet->consumers() == 0; }));
  EXPECT_TRUE(outlet->finish(std::chrono::hours(1)));
}

TEST_F(ProcessTest, AMonitorKilledDuringTheEndIsReportedByTheSender) {
  const LinePipe ends;  // Else it may have come and gone within one look, where cores are few.
  Child monitor([&] {
    auto link = link_to({.endpoint = endpoint_, .credits = 4});
    std::vector<Delivery> got;
    while (got.size() < 4) link->wait(seconds(1), -1), link->receive(clock_now(), got);
    ends.read();
    return raise(SIGKILL);
  });
  auto outlet = outlet_at(endpoint_);
  for (int i = 0; i < 100; ++i) outlet->send(events(1));
  ASSERT_TRUE(run_until([&] { outlet->serve(Nanoseconds(0)); }, [&] { return outlet->consumers() == 1; }));
  ends.write("now");
  EXPECT_FALSE(outlet->finish(std::chrono::hours(1)));
}

TEST_F(ProcessTest, TheLinkSaysWhichNodeWasLostWhenTheSenderIsKilled) {
  const LinePipe endpoint;
  Child sender([&] {
    auto outlet = outlet_at(endpoint_);
    endpoint.write(outlet->listen_endpoint());
    for (std::uint64_t i = 1;; ++i) outlet->send(events(i)), outlet->serve(milliseconds(5));
    return 0;
  });
  auto link = link_to({.endpoint = endpoint.read(), .patience = seconds(2)});
  std::vector<Delivery> got;
  const auto turn = [&] { link->wait(milliseconds(10), -1), link->receive(clock_now(), got); };
  ASSERT_TRUE(run_until(turn, [&] { return got.size() > 10; }));
  sender.kill(SIGKILL);
  ASSERT_TRUE(run_until(turn, [&] { return link->status().state == LinkState::kLost; }));
  EXPECT_THAT(link->status().detail, HasSubstr("node n1 has not answered"));
}

std::size_t resident_bytes() {
  std::size_t total = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  const bool read = fscanf(file, "%zu %zu", &total, &resident) == 2;
  fclose(file);
  return read ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

TEST_F(ProcessTest, AStoppedMonitorCostsTheSenderABoundedAmountOfMemoryAndSeesTheGap) {
  constexpr std::uint64_t kBuffer = 1u << 20;
  constexpr std::uint64_t kStream = tests::kSanitized ? 20'000 : 200'000;  // Times 1000 bytes.
  // A sender counts a second of silence at most for each time that it looks, however long it took, and forgets who is
  // silent for ten.
  constexpr std::uint64_t kLooks = 5;
  Child monitor([&] {
    auto link = link_to({.endpoint = endpoint_, .credits = 64});
    const auto numbers = numbers_of(read_to_the_end(*link, 1'000'000));
    return numbers.front() == 1 && numbers.back() == kStream + 1 && numbers.size() < kStream ? 0 : 1;
  });
  auto outlet = outlet_at(endpoint_, kBuffer);
  outlet->send(events(1, 1000));
  ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(1)); }, [&] { return outlet->bytes_sent() > 1000; }));
  monitor.kill(SIGSTOP);
  const std::size_t before = resident_bytes();
  for (std::uint64_t i = 2; i <= kStream; ++i) {
    outlet->send(events(i, 1000));
    if (i % (kStream / kLooks) == 0) outlet->serve(Nanoseconds(0));
  }
  // A sanitizer keeps what is freed.
  if (!tests::kSanitized) {
    EXPECT_LT(resident_bytes() - before, 16 * kBuffer);
  }
  monitor.kill(SIGCONT);
  EXPECT_TRUE(outlet->finish(seconds(1)));
  EXPECT_EQ(monitor.wait(), 0);
}

/// Looks on until it has had all frames of the sender but its end, or that as well. Some are slow, and some stop with the first one.
int look_on(const std::string& endpoint, int number) {
  auto link = link_to({.endpoint = endpoint, .role = wire::Role::kSpectator});
  std::vector<Delivery> got;
  const auto turn = [&] {
    link->wait(milliseconds(20), -1);
    if (number % 3 == 1) usleep(20'000);
    link->receive(clock_now(), got);
    if (number % 3 == 2 && !got.empty()) raise(SIGSTOP);
  };
  const bool came = run_until(turn, [&] { return got.size() >= kFrames - 1; });
  return came && numbers_of(got) == up_to(got.size()) ? 0 : 1;
}

TEST_F(ProcessTest, ThirtyWhoLookOnAreOneStreamFromTheSenderThoughSomeAreSlowOrStopped) {
  const std::string view = scratch_.ipc("v");
  const LinePipe started;
  std::vector<std::unique_ptr<Child>> viewers;
  for (int i = 0; i < 30; ++i) viewers.push_back(std::make_unique<Child>([&, i] { return look_on(view, i); }));
  Child sender([&] {
    auto outlet = open_outlet({.session = kSession, .node = "n1", .connect = endpoint_});
    int most = 0;
    started.read();
    for (std::uint64_t i = 1; i < kFrames; ++i) {
      outlet->send(events(i));
      outlet->serve(Nanoseconds(0));
      most = std::max(most, outlet->consumers());
    }
    run_until([&] { outlet->serve(milliseconds(1)), most = std::max(most, outlet->consumers()); },
              [&] { return outlet->consumers() == 1; });
    return outlet->finish(seconds(30)) ? most : 100;
  });
  auto relay = open_outlet({.session = kSession, .node = wire::kRelayNode, .listen = view, .is_relay = true});
  auto host = link_to({.endpoint = endpoint_, .listen = true});
  std::size_t frames = 0;
  const auto turn = [&] {
    std::vector<Delivery> got;
    host->wait(milliseconds(1), -1);
    host->receive(clock_now(), got);
    frames += got.size();
    for (Delivery& delivery : got) relay->relay(std::move(delivery.bytes));
    relay->serve(Nanoseconds(0));
  };
  ASSERT_TRUE(run_until(turn, [&] { return relay->consumers() == 30; }));
  started.write("now");
  ASSERT_TRUE(run_until(turn, [&] { return frames == kFrames; })) << frames << " frames, while ten viewers stand still";
  const auto reads = [&](int number) { return number % 3 != 2; };
  ASSERT_TRUE(run_until(turn, [&] {
    int running = 0;
    for (int i = 0; i < 30; ++i) running += reads(i) && viewers[std::size_t(i)]->running();
    return running == 0;
  }));
  for (int i = 0; i < 30; ++i) {
    if (reads(i)) {
      EXPECT_EQ(viewers[std::size_t(i)]->wait(), 0) << "viewer " << i;
    }
  }
  EXPECT_EQ(sender.wait(), 1) << "so many consumers it had at most";
}

}  // namespace
}  // namespace idlewave::link
