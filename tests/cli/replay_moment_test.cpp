// What a replay says of a moment is what was said when it was live, whichever way one came there.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "monitor/cli/monitor.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::cli {
namespace {

using std::chrono::milliseconds;
using test::RandomQuietScenarios;
using test::SimulatedFrame;
using test::SimulatedFrames;

constexpr view::paint::Size kSize{160, 60};
constexpr view::Look kLook{.colours = view::ColourDepth::kNone, .unicode = true, .cheap_scroll = true};
constexpr Nanoseconds kTurn = milliseconds(50);

/// A file for as long as this lives.
class RecordedFrames {
 public:
  explicit RecordedFrames(const SimulatedFrames& frames)
      : path_(std::filesystem::temp_directory_path() / fmt::format("idlewave-{}.iw", std::random_device{}())) {
    auto writer = wire::FrameLogWriter::create(path_.string(), {.program_version = "test", .session = "session"});
    for (const SimulatedFrame& frame : frames.all())
      EXPECT_TRUE((*writer)->append(frame.at, wire::Direction::kReceived, frame.bytes));
    EXPECT_TRUE((*writer)->close());
  }
  ~RecordedFrames() { std::filesystem::remove(path_); }

  std::unique_ptr<link::Link> open() const { return std::move(*link::open_replay({.path = path_.string()})); }

 private:
  std::filesystem::path path_;
};

/// A replay with its own clock.
class Viewer {
 public:
  explicit Viewer(const RecordedFrames& recording)
      : monitor_(recording.open(), {.session = "session", .label = "recording", .reopen = [&] {
                                      return wire::Result<std::unique_ptr<link::Link>>(recording.open());
                                    }}) {}

  void play_until(Nanoseconds at) {
    while (session_time() < at && !monitor_.has_ended()) turn();
  }
  void load_until(Nanoseconds at) {
    monitor_.load_until(at);
    while (monitor_.is_loading()) turn();
  }
  /// As one does by the key.
  void go_to(Nanoseconds at) {
    press(view::key_of(U'g'));
    for (const char letter : fmt::format("{}ms", at.count() / 1'000'000)) press(view::key_of(char32_t(letter)));
    press(view::key_of(view::KeyCode::kEnter));
    while (monitor_.is_loading()) turn();
    press(view::key_of(U'f'));
  }
  /// The list of ranks may take some refreshes.
  std::string screen_at(Nanoseconds at) {
    constexpr int kEnough = 16;
    monitor_.stop_at(at);
    for (int refresh = 0; refresh < kEnough; ++refresh) monitor_.refresh(now_);
    return view::paint::to_text(monitor_.screen(kSize, kLook));
  }
  const Observer& observer() const { return monitor_.observer(); }

 private:
  Nanoseconds session_time() const { return observer().timeline().now(); }
  void turn() { monitor_.work(now_ += kTurn); }
  void press(const view::Key& key) { monitor_.press(key, kSize, kLook, now_); }

  Monitor monitor_;
  Nanoseconds now_{};
};

support::Scenario scenario_with_a_delay(RandomQuietScenarios& random) {
  constexpr double kSeconds = 10;
  support::Scenario scenario = random.next(random.real(0, 0.1), kSeconds);
  const auto step = Nanoseconds(std::int64_t(kSeconds * 1e9)) / scenario.program.steps;
  scenario.delays = {
      {random.whole(0, scenario.machine.ranks - 1), scenario.program.steps / 4, step * random.whole(5, 40)}};
  return scenario;
}

std::string lines_that_differ(const std::string& a, const std::string& b) {
  std::istringstream of_a(a), of_b(b);
  std::string lines, one, other;
  while (std::getline(of_a, one) && std::getline(of_b, other))
    if (one != other) lines.append(one).append("\n").append(other).append("\n");
  return lines;
}

TEST(ReplayedMoment, IsToldTheSameWhicheverWayOneCameThere) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE(fmt::format("session {} of seed {}", i, seed));
    const RecordedFrames recording{SimulatedFrames(scenario_with_a_delay(random))};
    const Nanoseconds at = milliseconds(random.whole(1000, 9000));
    Viewer played(recording), loaded(recording), jumped(recording);
    played.play_until(at);
    loaded.load_until(at);
    jumped.play_until(at / 3);
    jumped.go_to(at / 2);
    jumped.go_to(at);
    const std::string screen = played.screen_at(at);
    EXPECT_EQ(lines_that_differ(loaded.screen_at(at), screen), "");
    EXPECT_EQ(lines_that_differ(jumped.screen_at(at), screen), "");
  }
}

TEST(ReplayedMoment, IsToldTheSameOfDomainsAndStepsWhenOneComesBackToIt) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE(fmt::format("session {} of seed {}", i, seed));
    const RecordedFrames recording{SimulatedFrames(scenario_with_a_delay(random))};
    // At any moment, and with the end of a sample of bandwidth.
    const Nanoseconds at = milliseconds(i % 2 == 0 ? random.whole(1000, 8000) : 200 * random.whole(5, 40));
    Viewer there(recording), beyond(recording);
    there.play_until(at);
    beyond.play_until(at + milliseconds(1500));
    there.screen_at(at);
    beyond.screen_at(at);
    const analysis::session::Findings& live = there.observer().findings();
    const analysis::session::Findings& back = beyond.observer().findings();
    ASSERT_EQ(live.domains.size(), back.domains.size());
    for (std::size_t domain = 0; domain < live.domains.size(); ++domain) {
      EXPECT_EQ(live.domains[domain].state, back.domains[domain].state) << domain;
      EXPECT_EQ(live.domains[domain].state_since, back.domains[domain].state_since) << domain;
      EXPECT_DOUBLE_EQ(live.domains[domain].active_now, back.domains[domain].active_now) << domain;
      EXPECT_DOUBLE_EQ(live.domains[domain].active_mean, back.domains[domain].active_mean) << domain;
      EXPECT_EQ(live.domains[domain].bandwidth, back.domains[domain].bandwidth) << domain;
    }
    EXPECT_EQ(live.steps.mean, back.steps.mean);
    EXPECT_EQ(live.skew.spread, back.skew.spread);
  }
}

}  // namespace
}  // namespace idlewave::cli
