// Recordings played back under a clock that is an argument.

#include <limits>

#include "monitor/link/link.h"
#include "tests/link/stage.h"

namespace idlewave::link {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using wire::Direction;

std::vector<std::byte> frame(std::uint64_t number) { return wire::encode({kSession, "n1", number, events(number)}); }

class ReplayTest : public ::testing::Test {
 protected:
  /// Frames 1, 2, 3... received at the given seconds.
  void record(const std::vector<int>& at_seconds) { ASSERT_TRUE(begin(at_seconds)->close()); }
  /// The same, still open.
  std::unique_ptr<wire::FrameLogWriter> begin(const std::vector<int>& at_seconds) {
    const wire::FrameLogHeader header{.program_version = "1", .session = kSession, .machine = "m", .command_line = "c"};
    auto writer = std::move(*wire::FrameLogWriter::create(path_, header));
    std::uint64_t number = 0;
    for (const int at : at_seconds) {
      EXPECT_TRUE(writer->append(seconds(at), Direction::kReceived, frame(++number)));
      EXPECT_TRUE(writer->flush());
    }
    return writer;
  }
  void open(double speed = 1) {
    auto link = open_replay({.path = path_, .speed = speed});
    ASSERT_TRUE(link) << link.error().message;
    link_ = std::move(*link);
  }
  std::vector<std::uint64_t> received_at(Nanoseconds now) {
    std::vector<Delivery> got;
    link_->receive(now, got);
    return numbers_of(got);
  }

  const Scratch scratch_;
  const std::string path_ = scratch_.file("s.iw");
  std::unique_ptr<Link> link_;
};

TEST(Delivery, KeepsTheBlobOfItsEventsWhereverItIsMoved) {
  std::vector<Delivery> deliveries;
  for (std::uint64_t i = 1; i <= 100; ++i)
    deliveries.emplace_back(Nanoseconds(0), wire::Direction::kReceived,
                            wire::encode({"s", "n", i, wire::Events{{}, std::vector<std::byte>(i, std::byte(i))}}));
  for (std::uint64_t i = 1; i <= 100; ++i) {
    const std::span<const std::byte> blob = deliveries[i - 1].frame->blob;
    EXPECT_THAT(std::vector(blob.begin(), blob.end()), testing::AllOf(testing::SizeIs(i), testing::Each(std::byte(i))));
  }
}

TEST_F(ReplayTest, DeliversEachFrameWhenItsTimeHasCome) {
  record({0, 1, 3});
  open();
  EXPECT_THAT(received_at(seconds(100)), ElementsAre(1));
  EXPECT_THAT(received_at(seconds(100) + milliseconds(999)), IsEmpty());
  EXPECT_THAT(received_at(seconds(101)), ElementsAre(2));
  EXPECT_THAT(received_at(seconds(110)), ElementsAre(3));
}

TEST_F(ReplayTest, TellsWhenTheNextFrameIsDue) {
  record({0, 1, 3});
  open();
  EXPECT_EQ(replay_control(*link_)->next_at(), seconds(0));
  received_at(seconds(100));
  received_at(seconds(101));
  EXPECT_EQ(replay_control(*link_)->next_at(), seconds(3));
  received_at(seconds(110));
  EXPECT_EQ(replay_control(*link_)->next_at(), Nanoseconds::max());
}

TEST_F(ReplayTest, LeavesRoomForSumsWhateverTimesAFileHolds) {
  const wire::FrameLogHeader header{.program_version = "1", .session = kSession, .machine = "m", .command_line = "c"};
  auto writer = std::move(*wire::FrameLogWriter::create(path_, header));
  for (const Nanoseconds at : {Nanoseconds::min(), Nanoseconds::max()})
    ASSERT_TRUE(writer->append(at, Direction::kReceived, frame(1)));
  ASSERT_TRUE(writer->close());
  open(std::numeric_limits<double>::infinity());
  std::vector<Delivery> got;
  link_->receive(seconds(1), got);
  link_->receive(seconds(2), got);
  ASSERT_THAT(got, SizeIs(2));
  EXPECT_EQ(got[0].received_at, Nanoseconds(0));
  EXPECT_GT(got[1].received_at, std::chrono::hours(24 * 365 * 70));
  EXPECT_LT(got[1].received_at, Nanoseconds::max() / 2);
  EXPECT_LT(link_->status().duration, Nanoseconds::max() / 2);
}

TEST_F(ReplayTest, DeliversThemWithTheirRecordedTime) {
  record({0, 1, 3});
  open();
  std::vector<Delivery> got;
  link_->receive(seconds(100), got);
  link_->receive(seconds(200), got);
  ASSERT_THAT(got, SizeIs(3));
  EXPECT_EQ(got[2].received_at, seconds(3));
  EXPECT_EQ(got[2].bytes, frame(3));
}

TEST_F(ReplayTest, RunsAtTheSpeedThatWasAskedFor) {
  record({0, 4, 8});
  open(4);
  EXPECT_THAT(received_at(seconds(0)), ElementsAre(1));
  EXPECT_THAT(received_at(seconds(1)), ElementsAre(2));
  EXPECT_EQ(link_->status().position, seconds(4));
}

TEST_F(ReplayTest, DeliversEverythingAtOnceAtInfiniteSpeed) {
  record({0, 4, 8000});
  open(std::numeric_limits<double>::infinity());
  received_at(seconds(0));
  received_at(seconds(0) + Nanoseconds(1));
  EXPECT_EQ(link_->status().state, LinkState::kEnded);
}

TEST_F(ReplayTest, ChangesItsSpeedWithoutAJump) {
  record({0, 2, 6});
  open();
  received_at(seconds(0));
  replay_control(*link_)->set_speed(10, seconds(1));
  EXPECT_THAT(received_at(seconds(1)), IsEmpty());
  EXPECT_EQ(link_->status().position, seconds(1));
  EXPECT_THAT(received_at(seconds(1) + milliseconds(100)), ElementsAre(2));
}

TEST_F(ReplayTest, StandsStillWhilePaused) {
  record({0, 2});
  open();
  received_at(seconds(0));
  replay_control(*link_)->pause(true, seconds(1));
  EXPECT_THAT(received_at(seconds(50)), IsEmpty());
  EXPECT_EQ(link_->status().position, seconds(1));
  replay_control(*link_)->pause(false, seconds(50));
  EXPECT_THAT(received_at(seconds(50) + milliseconds(999)), IsEmpty());
  EXPECT_THAT(received_at(seconds(51)), ElementsAre(2));
}

TEST_F(ReplayTest, IsLiveUntilItsLastFrameAndThenEnded) {
  record({0, 2});
  open();
  received_at(seconds(0));
  EXPECT_EQ(link_->status().state, LinkState::kLive);
  received_at(seconds(9));
  EXPECT_EQ(link_->status().state, LinkState::kEnded);
  EXPECT_EQ(link_->status().position, seconds(2));
}

TEST_F(ReplayTest, KnowsHowLongTheRecordingIs) {
  record({0, 2, 7});
  open();
  EXPECT_EQ(link_->status().duration, seconds(7));
  EXPECT_TRUE(link_->status().replay);
}

TEST_F(ReplayTest, CantBeChanged) {
  record({0});
  open();
  const auto sent = link_->send(seconds(0), a_delay());
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message, "a recording can't be changed");
  EXPECT_EQ(link_->status().no_command, wire::NoCommand::kRecording);
}

TEST_F(ReplayTest, PlaysARecordingThatIsNotClosed) {
  const auto writer = begin({0, 1, 2});
  open();
  EXPECT_EQ(link_->status().duration, seconds(2));
  received_at(seconds(0));
  EXPECT_THAT(received_at(seconds(2)), ElementsAre(2, 3));
}

TEST_F(ReplayTest, PlaysWhatIsLeftOfARecordingThatWasCutAnywhere) {
  record({0, 1, 2, 3});
  const auto size = std::filesystem::file_size(path_);
  std::size_t most = 4;
  for (auto bytes = size - 1; bytes > 0; --bytes) {
    std::filesystem::resize_file(path_, bytes);
    auto link = open_replay({.path = path_, .speed = std::numeric_limits<double>::infinity()});
    if (!link) continue;  // Not even its first bytes are there.
    std::vector<Delivery> got;
    (*link)->receive(seconds(0), got);
    (*link)->receive(seconds(1), got);
    const auto numbers = numbers_of(got);
    EXPECT_EQ(numbers, up_to(numbers.size())) << "cut to " << bytes;
    EXPECT_LE(numbers.size(), most);
    EXPECT_TRUE(replay_control(**link)->damage().cut) << "cut to " << bytes;
    most = numbers.size();
  }
  EXPECT_EQ(most, 0u);
}

TEST_F(ReplayTest, SaysWhatIsWrongWithAFileThatIsNoRecording) {
  const auto missing = open_replay({.path = scratch_.file("missing.iw")});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("missing.iw"));
}

TEST_F(ReplayTest, WaitsUntilTheNextFrameIsDue) {
  record({0, 1, 3600});
  open(100);
  received_at(seconds(0));
  const Nanoseconds start = clock_now();
  link_->wait(std::chrono::hours(1), -1);
  EXPECT_GE(clock_now() - start, milliseconds(9));
  EXPECT_LT(clock_now() - start, std::chrono::minutes(1));
}

TEST_F(ReplayTest, WakesUpForAKey) {
  record({0, 3600});
  open();
  received_at(seconds(0));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "i", 1), 1);
  const Nanoseconds start = clock_now();
  link_->wait(std::chrono::hours(1), ends[0]);
  EXPECT_LT(clock_now() - start, std::chrono::minutes(1));
  close(ends[0]), close(ends[1]);
}

}  // namespace
}  // namespace idlewave::link
