// The stream over two pipes, with a carrier between, each in a process of its own.

#include "monitor/link/carrier.h"

#include <fcntl.h>

#include "monitor/link/link.h"
#include "tests/link/child.h"
#include "tests/link/stage.h"

namespace idlewave::link {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kCarriedFrames = 2000;  // With the End.

/// Two pipes: to the carrier, and from it. Each process keeps its ends.
class Way {
 public:
  Way() {
    signal(SIGPIPE, SIG_IGN);
    if (pipe(up_) != 0 || pipe(down_) != 0) abort();
  }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  ~Way() { close_here(), close_there(); }

  int carry(const std::string& endpoint, wire::Role role = wire::Role::kOperator) {
    close_here();
    const wire::Status carried = link::carry({.endpoint = endpoint,
                                              .key = "",
                                              .greeting = {.role = role, .session = kSession},
                                              .in = up_[0],
                                              .out = down_[1]});
    if (!carried) std::fprintf(stderr, "%s\n", carried.error().message.c_str());
    return carried ? 0 : 1;
  }
  /// The rest of the way from here; what greets is read.
  std::unique_ptr<Link> open(LiveOptions options = {}) {
    close_there();
    std::string heard;
    while (heard.empty() || heard.back() != '\n')
      if (char c = 0; read(down_[0], &c, 1) == 1) heard += c;
    greeted = find_greeting(heard);
    fcntl(up_[1], F_SETFL, O_NONBLOCK);
    options.endpoint = "the way";
    options.in = down_[0];
    options.out = up_[1];
    return link_to(options);
  }
  void close_here() { shut(up_[1]), shut(down_[0]); }

  std::optional<wire::Result<Greeted>> greeted;

 private:
  static void shut(int& fd) { close(std::exchange(fd, -1)); }
  void close_there() { shut(up_[0]), shut(down_[1]); }
  int up_[2], down_[2];
};

class CarrierTest : public ::testing::Test {
 protected:
  int send_all(std::size_t bytes = 200) {
    auto outlet = outlet_at(scratch_.ipc("s"));
    for (std::uint64_t i = 1; i < kCarriedFrames; ++i) {
      outlet->send(events(i, bytes));
      if (i % 100 == 0) outlet->serve(Nanoseconds(0));
    }
    return outlet->finish(seconds(30)) ? 0 : 1;
  }
  static std::vector<Delivery> read_all(Link& link) {
    std::vector<Delivery> got;
    const auto turn = [&] { link.wait(milliseconds(20), -1), link.receive(clock_now(), got); };
    EXPECT_TRUE(run_until(turn, [&] { return link.status().state == LinkState::kEnded; })) << "after " << got.size();
    link.receive(clock_now(), got);
    return got;
  }

  Scratch scratch_;
  Way way_;
};

TEST_F(CarrierTest, BringsEveryFrameAsItIsAndTheEndIsAcknowledged) {
  const std::string here = scratch_.ipc("s");
  Child sender([&] { return send_all(); });
  Child carrier([&] { return way_.carry(here); });
  auto link = way_.open({.credits = 64});
  const auto got = read_all(*link);
  EXPECT_EQ(numbers_of(got), up_to(kCarriedFrames));
  for (std::uint64_t i = 1; i < kCarriedFrames; ++i)
    ASSERT_EQ(got[i - 1].bytes, wire::encode({kSession, "n1", i, events(i, 200)}));
  link.reset();
  way_.close_here();
  EXPECT_EQ(sender.wait(), 0);
  EXPECT_EQ(carrier.wait(), 0);
}

TEST_F(CarrierTest, TellsWhatThereIsAndWhatOneMayDo) {
  const std::string here = scratch_.ipc("s");
  Child carrier([&] { return way_.carry(here, wire::Role::kSpectator); });
  const auto link = way_.open();
  ASSERT_TRUE(way_.greeted && *way_.greeted);
  EXPECT_EQ((*way_.greeted)->greeting.role, wire::Role::kSpectator);
  EXPECT_EQ((*way_.greeted)->greeting.session, kSession);
}

TEST_F(CarrierTest, LetsNobodyCommandWhoMayOnlyLookOn) {
  const std::string here = scratch_.ipc("s");
  Child carrier([&] { return way_.carry(here, wire::Role::kSpectator); });
  auto link = way_.open({.role = wire::Role::kOperator});
  auto outlet = outlet_at(here);
  outlet->send(roster_of(1));
  std::vector<Delivery> got;
  std::vector<wire::Command> taken;
  const auto turn = [&] {
    for (const wire::Command& command : outlet->serve(milliseconds(1))) taken.push_back(command);
    link->receive(clock_now(), got);
  };
  ASSERT_TRUE(run_until(turn, [&] { return !got.empty(); }));
  ASSERT_TRUE(link->send(clock_now(), a_delay()));
  ASSERT_TRUE(run_until(turn, [&] { return link->status().state == LinkState::kRefused; }));
  EXPECT_THAT(link->status().detail, HasSubstr("spectator"));
  EXPECT_TRUE(taken.empty());
}

TEST_F(CarrierTest, BringsCommandsAndTheirOutcomes) {
  const std::string here = scratch_.ipc("s");
  Child carrier([&] { return way_.carry(here); });
  auto link = way_.open();
  auto outlet = outlet_at(here);
  outlet->send(roster_of(1));
  std::vector<Delivery> got;
  std::vector<wire::Command> taken;
  const auto turn = [&] {
    for (const wire::Command& command : outlet->serve(milliseconds(1))) taken.push_back(command);
    link->receive(clock_now(), got);
  };
  ASSERT_TRUE(run_until(turn, [&] { return !got.empty(); }));
  ASSERT_TRUE(link->send(clock_now(), a_delay(7)));
  ASSERT_TRUE(run_until(turn, [&] { return !taken.empty(); }));
  EXPECT_EQ(taken, std::vector{a_delay(7)});
}

TEST_F(CarrierTest, ThatIsKilledIsALossForGood) {
  const std::string here = scratch_.ipc("s");
  Child carrier([&] { return way_.carry(here); });
  auto link = way_.open();
  auto outlet = outlet_at(here);
  outlet->send(roster_of(1));
  std::vector<Delivery> got;
  const auto turn = [&] { outlet->serve(milliseconds(1)), link->receive(clock_now(), got); };
  ASSERT_TRUE(run_until(turn, [&] { return !got.empty(); }));
  carrier.kill(SIGKILL);
  ASSERT_TRUE(run_until(turn, [&] { return link->status().state == LinkState::kLost; }));
  EXPECT_TRUE(link->status().for_good);
  EXPECT_THAT(link->status().detail, HasSubstr("the way: the stream has ended"));
}

TEST_F(CarrierTest, EndsWithItsReader) {
  const std::string here = scratch_.ipc("s");
  Child carrier([&] { return way_.carry(here); });
  auto link = way_.open();
  auto outlet = outlet_at(here);
  outlet->send(roster_of(1));
  std::vector<Delivery> got;
  const auto turn = [&] { outlet->serve(milliseconds(1)), link->receive(clock_now(), got); };
  ASSERT_TRUE(run_until(turn, [&] { return !got.empty(); }));
  way_.close_here();
  EXPECT_EQ(carrier.wait(), 0);
}

/// A reader that stands still is owed as many frames as it has granted, and not one more leaves its sender.
TEST_F(CarrierTest, PilesNothingUpForAReaderThatStandsStill) {
  constexpr std::uint32_t kGranted = 8;
  constexpr std::size_t kFrame = 20'000;
  const std::string here = scratch_.ipc("s");
  Child carrier([&] { return way_.carry(here); });
  auto link = way_.open({.credits = kGranted});
  auto outlet = outlet_at(here);
  outlet->send(roster_of(1));
  std::vector<Delivery> got;
  ASSERT_TRUE(run_until([&] { outlet->serve(milliseconds(1)), link->receive(clock_now(), got); },
                        [&] { return outlet->consumers() == 1; }));
  for (std::uint64_t i = 1; i <= 100; ++i) outlet->send(events(i, kFrame)), outlet->serve(milliseconds(2));
  EXPECT_LE(outlet->bytes_sent(), (kGranted + 1) * (kFrame + 200));
  const auto all = [&] { return numbers_of(got).size() >= 101; };
  EXPECT_TRUE(run_until([&] { outlet->serve(milliseconds(1)), link->receive(clock_now(), got); }, all));
}

std::string why_not(std::string_view text) {
  const auto found = find_greeting(text);
  return !found ? "not yet" : *found ? "" : found->error().message;
}

TEST(Greeting, IsFoundBehindWhateverAShellPrints) {
  const auto found =
      find_greeting("Welcome!\nidlewave-stream is loved here\n$ " + line_of({.session = "s", .label = "a.out"}));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->noise, "Welcome!\nidlewave-stream is loved here\n$ ");
  EXPECT_EQ((*found)->greeting.label, "a.out");
}

TEST(Greeting, OfNoOtherVersionIsTaken) {
  EXPECT_THAT(why_not("idlewave-stream\t3\toperator\ts\tl\n"),
              HasSubstr("version 3 of the stream, and this program 2"));
}

TEST(Greeting, ThatATerminalHasChangedSaysSo) {
  EXPECT_THAT(why_not("idlewave-stream\t2\toperator\ts\tl\r\n"), HasSubstr("ssh -t"));
}

TEST(Greeting, ThatIsDamagedIsQuoted) {
  EXPECT_THAT(why_not("idlewave-stream\t2\tking\ts\tl\n"), HasSubstr("damaged"));
  EXPECT_THAT(why_not("idlewave-stream\t2\toperator\ts\n"), HasSubstr("damaged"));
}

TEST(Greeting, IsOneLineWhateverTheNamesHold) {
  const std::string line = line_of({.session = "s", .label = "a\nb\tc\x1b[2J"});
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_EQ(std::ranges::count(line, '\t'), 4);
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace idlewave::link
