// What is said of a moment is a function of the session up to it: a later look finds what was found then.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "monitor/analysis/causes/causes.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::RandomQuietScenarios;
using test::SimulatedFrame;
using test::SimulatedFrames;

constexpr Nanoseconds kLook = milliseconds(250), kLearn = milliseconds(50);
constexpr Nanoseconds kWindow = seconds(5);

/// A session that goes on, and whoever follows it.
struct Watched {
  timeline::Timeline timeline;
  ingest::Ingest ingest{timeline};
  causes::CauseFinder finder;
  Nanoseconds next_look{}, next_lesson{};

  explicit Watched(std::uint64_t looks_at_once) : finder(timeline, looks_at_once) {}

  void hear(const SimulatedFrame& frame) {
    ingest.accept(wire::decode_in_place(frame.bytes), frame.at, wire::Direction::kReceived);
    if (timeline.empty() || timeline.now() < next_lesson) return;
    next_lesson = (timeline.now() / kLearn + 1) * kLearn;
    if (timeline.now() < next_look) return static_cast<void>(finder.learn());
    finder.follow();
    next_look = (timeline.now() / kLook + 1) * kLook;
  }
  /// However many calls that takes.
  causes::Causes causes_at(Nanoseconds moment) {
    const Window window{std::max(Nanoseconds{0}, moment - kWindow), moment};
    constexpr int kMostCalls = 1000;
    for (int call = 0; call < kMostCalls; ++call)
      if (const causes::Causes& causes = finder.observe(window); causes.window.to == moment) return causes;
    return {};
  }
};

void expect_same(const causes::Causes& now, const causes::Causes& then) {
  ASSERT_EQ(now.ranks.size(), then.ranks.size());
  for (std::size_t rank = 0; rank < now.ranks.size(); ++rank) {
    SCOPED_TRACE(fmt::format("rank {}", rank));
    const causes::RankCauses &a = now.ranks[rank], &b = then.ranks[rank];
    EXPECT_EQ(a.waited, b.waited);
    EXPECT_EQ(a.by, b.by);
    EXPECT_EQ(a.itself, b.itself);
    EXPECT_EQ(a.bandwidth, b.bandwidth);
    EXPECT_EQ(a.transfer, b.transfer);
    EXPECT_EQ(a.unknown, b.unknown);
    EXPECT_EQ(a.costs, b.costs);
  }
}

TEST(CauseFinder, SaysOfAPastMomentWhatItSaidThen) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  for (int i = 0; i < 6; ++i) {
    SCOPED_TRACE(fmt::format("session {} of seed {}", i, seed));
    constexpr double kSeconds = 7;
    support::Scenario scenario = random.next(random.real(0, 0.1), kSeconds);
    const auto step = Nanoseconds(std::int64_t(kSeconds * 1e9)) / scenario.program.steps;
    scenario.delays = {
        {random.whole(0, scenario.machine.ranks - 1), scenario.program.steps / 4, step * random.whole(5, 40)}};
    const SimulatedFrames frames(scenario);
    const Nanoseconds moment = kLook * random.whole(4, 20);
    // Half of them learn slowly, over many looks, and may not have learnt anything by then.
    const bool slowly = i % 2 == 1;
    const std::uint64_t looks = slowly ? std::uint64_t(random.whole(1'000, 300'000)) : LookBudget::kAtOnce;
    Watched live(looks), later(looks);
    auto frame = frames.all().begin();
    for (; frame != frames.all().end() && (live.timeline.empty() || live.timeline.now() < moment); ++frame)
      live.hear(*frame);
    for (const SimulatedFrame& each : frames.all()) later.hear(each);
    const causes::Causes then = live.causes_at(moment);
    ASSERT_TRUE(slowly || !then.ranks.empty());
    expect_same(later.causes_at(moment), then);
  }
}

/// Nothing has varied yet that could tell that work shares bandwidth: ranks whose neighbours wait already only have more of it.
TEST(CauseFinder, BlamesNobodyButTheRankThatIsHeldBehindALongLockstep) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  int looked = 0;
  while (looked < 6) {
    support::Scenario scenario = random.next(0, 10);
    const auto& machine = scenario.machine;
    const bool shares = machine.domain_bandwidth < 0.8 * machine.ranks_per_domain * machine.core_bandwidth;
    if (scenario.program.kernel != support::Kernel::kMemory || !shares) continue;
    ++looked;
    SCOPED_TRACE(fmt::format("session {} of seed {}", looked, seed));
    const auto step = Nanoseconds(seconds(10)) / scenario.program.steps;
    const Rank held = random.whole(0, machine.ranks - 1);
    scenario.delays = {{held, scenario.program.steps * 7 / 10, step * random.whole(5, 40)}};
    const SimulatedFrames frames(scenario, test::Says::kPartners);
    Watched live(LookBudget::kAtOnce);
    for (const SimulatedFrame& frame : frames.all()) live.hear(frame);
    for (Nanoseconds moment = seconds(6); moment < live.timeline.now(); moment += kLook) {
      const causes::Causes causes = live.causes_at(moment);
      ASSERT_EQ(causes.ranks.size(), std::size_t(scenario.machine.ranks));
      for (std::size_t rank = 0; rank < causes.ranks.size(); ++rank) {
        if (Rank(rank) == held) continue;
        EXPECT_LT(causes.ranks[rank].costs.sum(), step / 5) << rank << " at " << moment.count();
      }
    }
  }
}

/// However much more comes meanwhile.
TEST(CauseFinder, EndsWhatItBeganToLearnBeforeItBeginsAgain) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  support::Scenario scenario = random.next(0.02, 4);
  // Of few ranks it is learnt in two calls, and sometimes in five where messages take time, which tell whose they are.
  while (scenario.machine.ranks < 40) scenario = random.next(0.02, 4);
  scenario.communication.time = {};
  const SimulatedFrames frames(scenario);
  timeline::Timeline timeline;
  ingest::Ingest ingest(timeline);
  causes::CauseFinder finder(timeline, 1);
  const auto half = frames.all().begin() + std::ssize(frames.all()) / 2;
  const auto hear = [&](auto from, auto to) {
    for (auto frame = from; frame != to; ++frame)
      ingest.accept(wire::decode_in_place(frame->bytes), frame->at, wire::Direction::kReceived);
  };
  const auto calls = [&] {
    int count = 0;
    for (; finder.is_learning(); ++count) finder.follow();
    return count;
  };
  hear(frames.all().begin(), half);
  finder.follow();
  EXPECT_TRUE(finder.is_learning());
  hear(half, frames.all().end());
  EXPECT_GT(calls(), 20) << seed;
  finder.follow();
  EXPECT_TRUE(finder.is_learning()) << "there is twice as much now";
  EXPECT_GT(calls(), 20) << seed;
  finder.follow();
  EXPECT_FALSE(finder.is_learning());
}

}  // namespace
}  // namespace idlewave::analysis
