// The recorder around a live link and around a replay; disks that are full.

#include <sys/resource.h>

#include <csignal>
#include <limits>

#include "monitor/link/link.h"
#include "tests/link/child.h"
#include "tests/link/stage.h"

namespace idlewave::link {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using wire::Direction;

std::vector<Delivery> play(const std::string& path) {
  std::vector<Delivery> got;
  auto link = open_replay({.path = path, .speed = std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(link) << link.error().message;
  if (!link) return got;
  for (int turn = 0; (*link)->status().state != LinkState::kEnded; ++turn) (*link)->receive(Nanoseconds(turn), got);
  return got;
}

std::vector<std::vector<std::byte>> bytes_of(std::span<const Delivery> deliveries) {
  std::vector<std::vector<std::byte>> all;
  for (const Delivery& delivery : deliveries) all.push_back(delivery.bytes);
  return all;
}

const wire::FrameLogHeader kHeader{.program_version = "1", .session = kSession, .machine = "m", .command_line = "c"};

/// An outlet, a live link to it and a recorder around that; time is `now_`, one millisecond a turn.
class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    recorder_ = std::make_unique<Recorder>(link_to({.endpoint = endpoint_}));
    turn_until([&] { return recorder_->status().state == LinkState::kLive; });
  }
  void turn() {
    now_ += milliseconds(1);
    outlet_->serve(Nanoseconds(0));
    recorder_->wait(milliseconds(1), -1);
    recorder_->receive(now_, got_);
  }
  template <class Done>
  void turn_until(Done done) {
    ASSERT_TRUE(run_until([this] { turn(); }, done));
  }
  void stream(std::uint64_t from, std::uint64_t to) {
    const std::size_t expected = got_.size() + to - from + 1;
    for (std::uint64_t i = from; i <= to; ++i) outlet_->send(events(i, 100));
    turn_until([&] { return got_.size() >= expected; });
  }

  const Scratch scratch_;
  const std::string path_ = scratch_.file("s.iw");
  const std::string endpoint_ = scratch_.ipc("s");
  std::unique_ptr<outlet::Outlet> outlet_ = outlet_at(endpoint_);
  std::unique_ptr<Recorder> recorder_;
  std::vector<Delivery> got_;
  Nanoseconds now_ = seconds(1000);
};

TEST_F(RecorderTest, HoldsTheReceivedFramesByteForByte) {
  ASSERT_TRUE(recorder_->start(path_, kHeader, now_));
  outlet_->send(roster_of(4));
  stream(2, 500);
  ASSERT_TRUE(recorder_->stop());
  EXPECT_EQ(bytes_of(play(path_)), bytes_of(got_));
}

TEST(RecorderOfCrowds, KeepsNoMoreRostersThanItHasRoomForAndSaysSo) {
  /// Hands out one roster of two megabytes for each call, each of another node.
  class Crowd : public Link {
   public:
    void receive(Nanoseconds now, std::vector<Delivery>& out) override {
      wire::Roster roster;
      for (wire::DomainId id = 0; id < 500; ++id)
        roster.domains.push_back({id, "", 0, 0, wire::BandwidthSource::kNone, std::string(4096, 'x')});
      out.push_back({now, Direction::kReceived, wire::encode({kSession, "n" + std::to_string(++nodes_), 1, roster})});
    }
    wire::Status send(Nanoseconds, const wire::Command&) override { return wire::ok(); }
    void wait(Nanoseconds, int) override {}
    LinkStatus status() const override { return {}; }

   private:
    int nodes_ = 0;
  };
  const Scratch scratch;
  const auto late = [&](int nodes) {
    Recorder recorder(std::make_unique<Crowd>());
    std::vector<Delivery> got;
    for (int i = 0; i < nodes; ++i, got.clear()) recorder.receive(Nanoseconds(i), got);
    return recorder.start(scratch.file(std::to_string(nodes) + ".iw"), kHeader, Nanoseconds(nodes));
  };
  EXPECT_TRUE(late(20));
  const wire::Status refused = late(40);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--record"));
}

TEST_F(RecorderTest, HoldsTheTimeSinceItsStart) {
  ASSERT_TRUE(recorder_->start(path_, kHeader, now_));
  const Nanoseconds start = now_;
  stream(1, 1);
  ASSERT_TRUE(recorder_->stop());
  const auto played = play(path_);
  ASSERT_THAT(played, SizeIs(1));
  EXPECT_EQ(played[0].received_at, got_[0].received_at - start);
}

TEST_F(RecorderTest, HoldsTheOperatorsCommandsAsSent) {
  ASSERT_TRUE(recorder_->start(path_, kHeader, now_));
  ASSERT_TRUE(recorder_->send(now_, a_delay()));
  stream(1, 1);
  ASSERT_TRUE(recorder_->stop());
  const auto played = play(path_);
  ASSERT_FALSE(played.empty());
  EXPECT_EQ(played[0].direction, Direction::kSent);
  EXPECT_EQ(std::get<wire::Command>(frames_of(played)[0].body), a_delay());
}

TEST_F(RecorderTest, BeginsInTheMiddleOfASessionWithTheLatestRosterAndWithoutAGap) {
  outlet_->send(roster_of(4));
  turn_until([&] { return got_.size() == 1; });
  outlet_->send(roster_of(8));
  turn_until([&] { return got_.size() == 2; });
  stream(3, 10);
  ASSERT_TRUE(recorder_->start(path_, kHeader, now_));
  stream(11, 12);
  ASSERT_TRUE(recorder_->stop());
  const auto played = play(path_);
  EXPECT_THAT(numbers_of(played), ElementsAre(10, 11, 12));
  EXPECT_EQ(std::get<wire::Roster>(frames_of(played)[0].body).world_size, 8);
}

TEST_F(RecorderTest, CanStopAndStartAgain) {
  outlet_->send(roster_of(4));
  turn_until([&] { return got_.size() == 1; });
  ASSERT_TRUE(recorder_->start(path_, kHeader, now_));
  stream(2, 3);
  ASSERT_TRUE(recorder_->stop());
  stream(4, 5);
  const std::string second = scratch_.file("second.iw");
  ASSERT_TRUE(recorder_->start(second, kHeader, now_));
  stream(6, 7);
  ASSERT_TRUE(recorder_->stop());
  EXPECT_THAT(numbers_of(play(path_)), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers_of(play(second)), ElementsAre(5, 6, 7));
}

TEST_F(RecorderTest, DoesNotStartTwice) {
  ASSERT_TRUE(recorder_->start(path_, kHeader, now_));
  const auto again = recorder_->start(scratch_.file("second.iw"), kHeader, now_);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("already recording to " + path_));
}

TEST_F(RecorderTest, DoesNotOverwriteARecording) {
  ASSERT_TRUE(recorder_->start(path_, kHeader, now_));
  stream(1, 1);
  ASSERT_TRUE(recorder_->stop());
  EXPECT_FALSE(recorder_->start(path_, kHeader, now_));
  EXPECT_FALSE(recorder_->recording());
  EXPECT_THAT(play(path_), SizeIs(1));
}

TEST_F(RecorderTest, IsOnDiskAfterFourSecondsWithoutBeingStopped) {
  ASSERT_TRUE(recorder_->start(path_, kHeader, now_));
  stream(1, 3);
  now_ += seconds(4);
  turn();
  EXPECT_EQ(numbers_of(play(path_)), up_to(3));
}

TEST_F(RecorderTest, IsCompleteOnDiskWhenItIsDestroyed) {
  ASSERT_TRUE(recorder_->start(path_, kHeader, now_));
  stream(1, 3);
  recorder_.reset();
  EXPECT_EQ(numbers_of(play(path_)), up_to(3));
}

TEST_F(RecorderTest, ReportsAFileItCantMakeAndGoesOn) {
  EXPECT_FALSE(recorder_->start("/dev/full", kHeader, now_));
  EXPECT_FALSE(recorder_->start(scratch_.file("no/such/folder.iw"), kHeader, now_));
  EXPECT_FALSE(recorder_->recording());
  stream(1, 3);
  EXPECT_EQ(numbers_of(got_), up_to(3));
}

// A limit on the size of files stands for the full disk: the write fails in the same place. In a process of its own,
// since it stays.
int record_onto_a_full_disk(const Scratch& scratch) {
  const std::string endpoint = scratch.ipc("full");
  signal(SIGXFSZ, SIG_IGN);
  auto outlet = outlet_at(endpoint);
  Recorder recorder(link_to({.endpoint = endpoint}));
  const rlimit limit{20'000, 20'000};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || !recorder.start(scratch.file("full.iw"), kHeader, Nanoseconds(0)))
    return 1;
  std::vector<Delivery> got;
  constexpr std::uint64_t kNoiseFrames = 200;
  std::uint32_t seed = 1;
  Nanoseconds now{};
  for (std::uint64_t i = 1; i <= kNoiseFrames; ++i) {
    wire::Events noise = events(i, 400);
    for (auto& byte : noise.blob) byte = static_cast<std::byte>((seed = seed * 1664525u + 1013904223u) >> 24);
    outlet->send(noise);
    const auto turn = [&] { outlet->serve(Nanoseconds(0)), recorder.receive(now, got); };
    if (!run_until(turn, [&] { return got.size() >= i; })) return 2;
    now += milliseconds(100);
  }
  if (recorder.recording() || numbers_of(got) != up_to(kNoiseFrames)) return 3;
  if (recorder.failure().find("recorded until") == std::string::npos) return 4;
  return recorder.stop() ? 0 : 5;
}

TEST(Recorder, EndsOnAFullDiskWhileTheSessionGoesOnAndWhatWasRecordedStays) {
  const Scratch scratch;
  Child monitor([&] { return record_onto_a_full_disk(scratch); });
  ASSERT_EQ(monitor.wait(), 0);
  const auto numbers = numbers_of(play(scratch.file("full.iw")));
  EXPECT_FALSE(numbers.empty());
  EXPECT_EQ(numbers, up_to(numbers.size()));
}

TEST(Recorder, HasTheWholeStreamOnDiskBeforeTheSenderMayForgetIt) {
  const Scratch scratch;
  const std::string endpoint = scratch.ipc("s");
  Child sender([&] {
    auto outlet = outlet_at(endpoint);
    for (std::uint64_t i = 1; i < 1000; ++i) outlet->send(events(i));
    return outlet->finish(seconds(30)) ? 0 : 1;
  });
  const std::string path = scratch.file("s.iw");
  Child monitor([&] {
    Recorder recorder(link_to({.endpoint = endpoint, .credits = 16}));
    std::vector<Delivery> got;
    const bool started = recorder.start(path, kHeader, clock_now()) ? true : false;
    for (;;) recorder.wait(milliseconds(100), -1), recorder.receive(clock_now(), got);
    return started ? 0 : 1;
  });
  ASSERT_EQ(sender.wait(), 0);
  monitor.kill(SIGKILL);  // It never had a chance to close the file.
  ASSERT_EQ(monitor.wait(), -1);
  EXPECT_EQ(numbers_of(play(path)), up_to(1000));
}

TEST(Recorder, LetsTheControlsOfAReplayThrough) {
  const Scratch scratch;
  const std::string path = scratch.file("s.iw");
  {
    auto writer = wire::FrameLogWriter::create(path, kHeader);
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->append(seconds(1), Direction::kReceived, wire::encode({kSession, "n1", 1, events(1)})));
  }
  auto replay = open_replay({.path = path});
  ASSERT_TRUE(replay);
  Recorder recorder(std::move(*replay));
  ASSERT_NE(replay_control(recorder), nullptr);
  EXPECT_EQ(replay_control(recorder)->header().session, kSession);
}

}  // namespace
}  // namespace idlewave::link
