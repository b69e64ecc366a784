#include "monitor/analysis/waves/late_steps.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "monitor/analysis/waves/waves.h"
#include "monitor/ingest/ingest.h"
#include "tests/analysis/late_in.h"
#include "tests/analysis/ring_model.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RingModel;
using testing::IsEmpty;
using testing::SizeIs;

/// Rank 5 computes longer in step 40, and says nothing of a delay.
RingModel late_once(Nanoseconds longer) {
  RingModel model;
  model.delays = {{5, 40, longer}};
  model.announced = false;
  return model;
}

void expect_rank_5_in_step_40(const std::vector<waves::LateStep>& late, Nanoseconds longer) {
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 5);
  EXPECT_EQ(late[0].step, 40);
  EXPECT_EQ(late[0].excess, longer);
  EXPECT_EQ(late[0].since, ms(410));
}

TEST(LateSteps, AreWhereARankComputedLonger) { expect_rank_5_in_step_40(late_in(late_once(ms(300))), ms(300)); }

TEST(LateSteps, AreJudgedByTheNoiseAndNotByTheStep) { expect_rank_5_in_step_40(late_in(late_once(ms(5))), ms(5)); }

TEST(LateSteps, OfLessThanATenthOfAStepAreNone) { EXPECT_THAT(late_in(late_once(ms(0.9))), IsEmpty()); }

TEST(LateSteps, AreNoneWhereSomebodyElseWasLate) {
  RingModel model = late_once(ms(300));
  model.announced = true;
  EXPECT_THAT(late_in(model), IsEmpty());
}

/// What else is late falls off so slowly that the shorter one is not beyond eighteen times its mean.
TEST(LateSteps, AreNotHiddenByAShorterOneThatIsTooNearToTheNoise) {
  constexpr std::array kHiccups{5.2, 4.9, 4.8, 4.8, 3.7, 3.6, 3.5, 3.4, 3.2, 3.0, 2.9, 2.8, 2.6, 2.5, 2.4, 2.2, 1.0};
  RingModel model = late_once(ms(60));
  model.delays.push_back({9, 65, ms(40)});
  model.more_work = [&](Rank rank, int step) {
    const auto hiccup = std::size_t(step / 5);
    return step % 5 == 0 && hiccup < kHiccups.size() && rank == Rank(hiccup) + 15 ? ms(kHiccups[hiccup]) : ms(0);
  };
  const auto late = late_in(model);
  ASSERT_THAT(late, SizeIs(2));
  EXPECT_EQ(late[0].excess, ms(60));
  EXPECT_EQ(late[1].excess, ms(40));
}

/// The machine holds three ranks up at once, now and then: these are ten values of its noise, and not thirty.
TEST(LateSteps, AreNotHiddenByWhatHoldsSeveralRanksUpTogether) {
  constexpr std::array kHiccups{10.9, 5.9, 2.6, 2.4, 1.6, 1.3, 1.2, 1.0, 0.9, 0.7};
  RingModel model = late_once(ms(60));
  model.delays.push_back({9, 65, ms(40)});
  model.more_work = [&](Rank rank, int step) {
    const auto hiccup = std::size_t(step / 6);
    const bool is_held = step % 6 == 0 && hiccup < kHiccups.size() && rank >= 15 && rank < 18;
    return is_held ? ms(kHiccups[hiccup] + 0.01 * (rank - 15)) : ms(0);
  };
  const auto late = late_in(model);
  ASSERT_THAT(late, SizeIs(2));
  EXPECT_EQ(late[0].excess, ms(60));
  EXPECT_EQ(late[1].excess, ms(40));
}

/// Thirty-six, thirty and twenty-three times as long as the mean of exponential noise.
TEST(LateSteps, AreSeveralOfUnlikeLengthsInNoise) {
  constexpr int kPrograms = 20;
  const unsigned seed = any_seed();
  int all_found = 0, others = 0;
  for (int i = 0; i < kPrograms; ++i) {
    RingModel model = late_once(ms(3.6));
    model.delays.push_back({17, 44, ms(3)});
    model.delays.push_back({31, 63, ms(2.3)});
    model.noise_mean_ms = 0.1;
    model.seed = seed + unsigned(i);
    const auto is_delayed = [&](const waves::LateStep& late) {
      return std::ranges::any_of(model.delays, [&](const RingModel::Delay& delay) {
        return late.rank == delay.rank && late.step == delay.step;
      });
    };
    const auto late = late_in(model);
    const auto right = std::ranges::count_if(late, is_delayed);
    all_found += right == 3;
    others += int(std::ssize(late) - right);
  }
  EXPECT_GE(all_found, 15);
  EXPECT_LE(others, 1);
}

TEST(LateSteps, AreNotHiddenByARankWhoseStepsAlternate) {
  RingModel model = late_once(ms(14));
  model.more_work = [](Rank rank, int step) { return rank == 5 && step % 2 == 1 ? ms(8) : ms(0); };
  const auto late = late_in(model);
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 5);
  EXPECT_EQ(late[0].step, 40);
}

TEST(LateSteps, AreNoneWhereAllRanksDoMore) {
  RingModel model;
  model.more_work = [](Rank, int step) { return step % 25 == 0 ? ms(50) : ms(0); };
  EXPECT_THAT(late_in(model), IsEmpty());
}

/// As where a program goes on to another loop, which is known after a while.
TEST(LateSteps, AreNoneWhereAStepHidesOthersInWhichARankIsSlow) {
  RingModel model;
  model.steps = 200;
  model.more_work = [](Rank rank, int step) { return rank == 5 && step >= 40 ? ms(4) : ms(0); };
  model.is_untold = [](int step) { return step > 40 && step < 100; };
  EXPECT_THAT(late_in(model), IsEmpty());
}

TEST(LateSteps, AreNoneWhereItComesAllTheTime) {
  RingModel model;
  model.more_work = [](Rank rank, int step) { return (rank * 7 + step * 13) % 97 == 0 ? ms(50) : ms(0); };
  EXPECT_THAT(late_in(model), IsEmpty());
}

/// Some of them are longer by the last digit in which times are known.
TEST(LateSteps, AreNoneOfManyInterruptionsOfOneLength) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  std::bernoulli_distribution interrupted(0.1), rounded_up(0.05);
  for (const double length : {1.5, 5.790508, 19.670894}) {
    RingModel model;
    model.more_work = [&](Rank, int) {
      return interrupted(random) ? ms(length) + Nanoseconds(rounded_up(random) ? 1 : 0) : ms(0);
    };
    EXPECT_THAT(late_in(model), IsEmpty()) << length << " ms, seed " << seed;
  }
}

/// Where bandwidth is shared it is known no better how long they are.
TEST(LateSteps, AreNoneOfManyInterruptionsOfWhichSomeAreALittleLonger) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  std::bernoulli_distribution interrupted(0.1);
  for (int i = 0; i < 3; ++i) {
    RingModel model;
    model.more_work = [&](Rank rank, int step) {
      if (rank % 20 == 3 && step == 45) return ms(5.84);
      return interrupted(random) ? ms(5.79) : ms(0);
    };
    EXPECT_THAT(late_in(model), IsEmpty()) << "seed " << seed << ", program " << i;
  }
}

/// Interruptions that come to all ranks at once, which a wave had left in different steps.
TEST(LateSteps, AreNoneAsLongAsWhatAllRanksDoNowAndThen) {
  constexpr std::array kSteps{5, 12, 21, 27, 38, 52, 57, 70, 78, 91};
  for (const double alone : {3, 6}) {
    RingModel model;
    model.more_work = [&](Rank rank, int step) {
      if (rank == 12 && step == 45) return ms(alone);
      return std::ranges::find(kSteps, step) != kSteps.end() ? ms(3) : ms(0);
    };
    EXPECT_THAT(late_in(model), SizeIs(alone == 3 ? 0 : 1));
  }
}

TEST(LateSteps, AreNoneWhereARankBecomesSlow) {
  RingModel model;
  model.more_work = [](Rank rank, int step) { return rank == 7 && step >= 50 ? ms(20) : ms(0); };
  EXPECT_THAT(late_in(model), IsEmpty());
}

TEST(LateSteps, AreNoneWhereEventsWereLost) {
  RingModel model = late_once(ms(300));
  model.run();
  timeline::Timeline timeline;
  timeline.apply_roster("n1", model.roster());
  for (Rank rank = 0; rank < model.ranks; ++rank) {
    std::vector<wire::Event> events = model.events_of(rank);
    const auto later = std::ranges::upper_bound(events, ms(550), {}, &wire::Event::time);
    if (rank == 5) events.insert(later, {ms(550), 3, wire::EventKind::kDropped, wire::Phase::kCompute});
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  waves::LateSteps late;
  late.read(timeline);
  EXPECT_THAT(late.found(), IsEmpty());
}

TEST(LateSteps, AreWhereARankWentOnLateAfterItsWaiting) {
  RingModel model;
  model.stopped_after_wait = [](Rank rank, int step) { return rank == 5 && step == 40 ? ms(70) : ms(0); };
  model.noise_mean_ms = 0.3;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const auto waves = waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].cause, waves::WaveCause::kStopped);
  EXPECT_EQ(waves[0].origin_rank, 5);
  EXPECT_EQ(waves[0].origin_step, 40);
  EXPECT_NEAR(double(waves[0].delay.count()), 70e6, 5e6);
  EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, 39);
}

TEST(LateSteps, AreNoneWhereARankWaitsLongForAnother) {
  RingModel model = late_once(ms(300));
  model.announced = true;
  model.distances = {-7, 7};
  model.noise_mean_ms = 0.3;
  EXPECT_THAT(late_in(model), IsEmpty());
}

/// Who waits for a rank that was held waits for its messages as well, as in every step.
TEST(LateSteps, AreNoneWhereMessagesTakeTheirTimeBehindARankThatWasHeld) {
  support::Scenario scenario;
  scenario.machine = {.ranks = 20, .ranks_per_domain = 10};
  scenario.machine.core_bandwidth = 10e9;
  scenario.machine.domain_bandwidth = 100e9;
  scenario.program = {.steps = 91, .kernel = support::Kernel::kCore};
  scenario.program.time = ms(10);
  scenario.communication.protocol = support::Protocol::kEager;
  scenario.communication.wait = support::WaitFlavour::kSplit;
  scenario.communication.time = ms(2);
  scenario.delays = {{5, 30, ms(64)}};
  waves::LateSteps late;
  late.read(test::SimulatedSession(scenario).timeline());
  EXPECT_THAT(late.found(), IsEmpty());
}

TEST(LateSteps, AreTheSameWhileTheSessionGoesOn) {
  RingModel model = late_once(ms(60));
  model.noise_mean_ms = 0.3;
  model.run();
  timeline::Timeline timeline;
  waves::WaveWatch watch;
  std::vector<waves::Wave> waves;
  model.tell_in_slices(timeline, ms(7), [&] { waves = watch.look(timeline); });
  const auto at_once = waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  ASSERT_THAT(waves, SizeIs(1));
  ASSERT_THAT(at_once, SizeIs(1));
  EXPECT_EQ(waves[0].origin_rank, 5);
  EXPECT_EQ(waves[0].origin_step, 40);
  EXPECT_EQ(waves[0].cause, waves::WaveCause::kLateCompute);
  EXPECT_EQ(waves[0].up.reach_ranks, at_once[0].up.reach_ranks);
  EXPECT_EQ(waves[0].up.end, at_once[0].up.end);
  EXPECT_NEAR(double(waves[0].delay.count()), double(at_once[0].delay.count()), 1e6);
}

TEST(WaveWatch, TellsTheSameInTheEndHoweverSlowlyPartnersAreLearnt) {
  RingModel model;
  model.noise_mean_ms = 0.3;
  model.delays = {{5, 40, ms(60)}, {20, 45, ms(90)}};
  model.run();
  timeline::Timeline timeline;
  waves::WaveWatch watch(50'000);
  std::vector<waves::Wave> waves;
  int learning = 0;
  model.tell_in_slices(timeline, ms(7), [&] {
    waves = watch.look(timeline);
    learning += watch.is_learning();
  });
  EXPECT_GT(learning, 20);
  while (watch.is_learning()) {
    for (const waves::Wave& wave : waves)
      EXPECT_TRUE(wave.up.end == waves::WaveEnd::kRunning && wave.down.end == waves::WaveEnd::kRunning);
    waves = watch.look(timeline);
  }
  const auto at_once = waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  ASSERT_EQ(waves.size(), at_once.size());
  for (std::size_t i = 0; i < waves.size(); ++i) {
    EXPECT_EQ(waves[i].origin_rank, at_once[i].origin_rank);
    EXPECT_EQ(waves::end_in_words(waves[i].up, waves[i].origin_rank),
              waves::end_in_words(at_once[i].up, at_once[i].origin_rank));
    EXPECT_EQ(waves::end_in_words(waves[i].down, waves[i].origin_rank),
              waves::end_in_words(at_once[i].down, at_once[i].origin_rank));
    EXPECT_EQ(waves[i].up.reach_ranks + waves[i].down.reach_ranks,
              at_once[i].up.reach_ranks + at_once[i].down.reach_ranks);
  }
}

/// 400 memory-bound ranks whose wave runs through hundred steps and more; looked at every 0.1 s of it.
void trace_a_long_wave(unsigned seed) {
  support::Scenario scenario;
  scenario.machine = {.ranks = 400, .ranks_per_domain = 10};
  scenario.machine.core_bandwidth = 10e9;
  scenario.machine.domain_bandwidth = 50e9;
  scenario.program = {.steps = 200, .kernel = support::Kernel::kMemory};
  scenario.program.volume = 100'000'000;
  scenario.communication.distances = {-1, 1};
  scenario.noise.distribution = support::ExponentialNoise{std::chrono::microseconds(100)};
  scenario.noise.seed = seed;
  scenario.delays = {{200, 30, ms(1000)}};
  const test::SimulatedFrames frames(scenario, test::Says::kPartners);
  timeline::Timeline timeline;
  ingest::Ingest ingest(timeline);
  waves::WaveWatch watch;
  std::vector<waves::Wave> waves;
  int looks = 0;
  for (Nanoseconds next{}; const test::SimulatedFrame& frame : frames.all()) {
    ingest.accept(wire::decode_in_place(frame.bytes), frame.at, wire::Direction::kReceived);
    if (frame.at < next && !timeline.ended()) continue;
    next = frame.at + ms(100);
    waves = watch.look(timeline), ++looks;
  }
  waves::WaveWatch once;
  const std::vector<waves::Wave> at_once = once.look(timeline);
  ASSERT_EQ(waves.size(), 1U);
  ASSERT_EQ(at_once.size(), 1U);
  EXPECT_EQ(waves[0].up.reach_ranks, at_once[0].up.reach_ranks);
  EXPECT_EQ(waves[0].down.reach_ranks, at_once[0].down.reach_ranks);
  EXPECT_EQ(waves::end_in_words(waves[0].up, waves[0].origin_rank),
            waves::end_in_words(at_once[0].up, at_once[0].origin_rank));
  EXPECT_EQ(waves::end_in_words(waves[0].down, waves[0].origin_rank),
            waves::end_in_words(at_once[0].down, at_once[0].origin_rank));
  EXPECT_GT(looks, 50);
  // Of each look anew it is eleven to fourteen times as much.
  EXPECT_LT(watch.work(), 9 * once.work());
}

TEST(WaveWatch, TracesALongWaveAFewTimesAndTellsTheSameInTheEnd) {
  trace_a_long_wave(any_seed());
  // What is far down its front hangs on how long a step is said to be, by parts in a thousand.
  trace_a_long_wave(52);
}

/// Twelve at once, of which a look has time for some.
TEST(WaveWatch, TracesManyWavesInTurnAndTellsTheSameInTheEnd) {
  constexpr std::uint64_t kLooks = 200'000;
  RingModel model;
  model.noise_mean_ms = 0.3;
  for (int wave = 0; wave < 12; ++wave) model.delays.push_back({3 * wave, 20 + wave % 3, ms(60 + 10 * wave)});
  model.run();
  timeline::Timeline timeline;
  waves::WaveWatch watch(kLooks);
  std::vector<waves::Wave> waves;
  int behind = 0;
  std::uint64_t most = 0;
  const auto look = [&] {
    const std::uint64_t before = watch.work();
    waves = watch.look(timeline);
    most = std::max(most, watch.work() - before);
    behind += watch.is_behind();
  };
  model.tell_in_slices(timeline, ms(7), look);
  EXPECT_GT(behind, 10);
  for (int looks = 0; watch.is_learning() || watch.is_behind(); ++looks) {
    ASSERT_LT(looks, 1000);
    look();
  }
  waves::WaveWatch once(LookBudget::kUnlimited);
  const auto at_once = once.look(timeline);
  EXPECT_LT(most, kLooks / 25 + once.work() / 4);  // One that has been begun is ended.
  ASSERT_EQ(waves.size(), at_once.size());
  for (std::size_t i = 0; i < waves.size(); ++i) {
    EXPECT_EQ(waves[i].origin_rank, at_once[i].origin_rank);
    EXPECT_EQ(waves[i].up.reach_ranks, at_once[i].up.reach_ranks);
    EXPECT_EQ(waves[i].down.reach_ranks, at_once[i].down.reach_ranks);
    EXPECT_EQ(waves[i].up.end, at_once[i].up.end);
    EXPECT_EQ(waves[i].down.end, at_once[i].down.end);
  }
}

}  // namespace
}  // namespace idlewave::analysis
