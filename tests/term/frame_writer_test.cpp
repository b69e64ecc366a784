#include "monitor/term/frame_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace idlewave::term {
namespace {

using namespace std::chrono_literals;

/// A terminal that takes only so much until somebody reads.
class SlowTerminal {
 public:
  SlowTerminal() {
    EXPECT_EQ(::pipe2(ends_, O_NONBLOCK | O_CLOEXEC), 0);
    EXPECT_GE(::fcntl(ends_[1], F_SETPIPE_SZ, 4096), 0);
  }
  SlowTerminal(const SlowTerminal&) = delete;
  SlowTerminal& operator=(const SlowTerminal&) = delete;
  ~SlowTerminal() { ::close(ends_[1]), hang_up(); }
  int fd() const { return ends_[1]; }
  void hang_up() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }
  std::string read() const {
    std::string bytes(1 << 20, '\0');
    const ssize_t got = ::read(ends_[0], bytes.data(), bytes.size());
    return bytes.substr(0, got > 0 ? static_cast<std::size_t>(got) : 0);
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST(FrameWriter, CountsEveryByteThatWasTaken) {
  SlowTerminal terminal;
  FrameWriter writer(terminal.fd());
  ASSERT_TRUE(writer.ready());
  writer.write("frame");
  EXPECT_EQ(writer.written(), 5U);
  EXPECT_EQ(terminal.read(), "frame");
}

TEST(FrameWriter, IsNotReadyWhileTheFrameBeforeIsNotGone) {
  SlowTerminal terminal;
  FrameWriter writer(terminal.fd());
  writer.write(std::string(10000, 'a'));
  EXPECT_FALSE(writer.ready());
}

TEST(FrameWriter, FinishesTheFrameBeforeInOrder) {
  SlowTerminal terminal;
  FrameWriter writer(terminal.fd());
  const std::string frame = std::string(5000, 'a') + std::string(5000, 'b');
  writer.write(frame);
  std::string taken;
  for (int i = 0; i < 10 && taken.size() < frame.size(); ++i) taken += terminal.read(), writer.ready();
  EXPECT_EQ(taken, frame);
  EXPECT_EQ(writer.written(), frame.size());
  EXPECT_TRUE(writer.ready());
}

TEST(FrameWriter, CancelsACutSequenceBeforeTheLastWords) {
  SlowTerminal terminal;
  FrameWriter writer(terminal.fd());
  writer.write(std::string(10000, 'a'));
  terminal.read();
  writer.finish("bye", 1000ms);
  EXPECT_EQ(terminal.read(),
            "\x18"
            "bye");
}

TEST(FrameWriter, GivesUpOnATerminalThatTakesNothing) {
  SlowTerminal terminal;
  FrameWriter writer(terminal.fd());
  writer.write(std::string(10000, 'a'));
  writer.finish("bye", 1ms);
  EXPECT_EQ(writer.written(), 4096U);
}

TEST(FrameWriter, KnowsWhenTheTerminalIsGone) {
  std::signal(SIGPIPE, SIG_IGN);  // pipes have it, terminals do not
  SlowTerminal terminal;
  terminal.hang_up();
  FrameWriter writer(terminal.fd());
  writer.write("frame");
  EXPECT_TRUE(writer.broken());
  EXPECT_FALSE(writer.ready());
}

}  // namespace
}  // namespace idlewave::term
