// Noise that an operator ordered.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "probe/client/gate_keeper.h"
#include "tests/probe/stepping_rank.h"

namespace idlewave::client {
namespace {

using test::describe;
using test::Segment;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(NoiseGate, OfASilentAgentEnds) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, kMs, 0, 1});
  for (wire::Step step = 0; rank.is_called(); ++step) {
    rank.begin_step(step);
    rank.told();
  }
  shm::set_noise(rank.slot(), {1, 10, kExponential, kMs, 0, 1});
  rank.is_swept();
  rank.begin_step(0);
  EXPECT_THAT(rank.told(), testing::SizeIs(2)) << "it came back";
}

TEST(NoiseGate, ComesBeforeEachStepUntilItIsEnded) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, 2000, 0, 1});
  rank.begin_steps(0, 3);
  shm::set_noise(rank.slot(), {});
  rank.begin_steps(3, 6);
  EXPECT_THAT(describe(rank.told()), ElementsAre("delay_begin 9 noise", "delay_end 9 none", "delay_begin 9 noise",
                                                 "delay_end 9 none", "delay_begin 9 noise", "delay_end 9 none"));
  EXPECT_FALSE(rank.is_called());
}

TEST(NoiseGate, LetsGoOfARankThatIsHeldWhenItIsCleared) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, kHour, 0, 1});
  {
    const HeldRank held(rank);
    while (rank.slot().head.load() == 0) std::this_thread::yield();
    shm::set_noise(rank.slot(), {});
  }
  EXPECT_THAT(describe(rank.told()), ElementsAre("delay_begin 9 noise", "delay_end 9 none"));
  rank.begin_step(1);
  EXPECT_THAT(rank.told(), IsEmpty());
}

TEST(NoiseGate, TakesANewOrderAtOnce) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, 2000, 0, 1});
  rank.begin_step(0);
  shm::set_noise(rank.slot(), {1, 10, kExponential, 2000, 0, 1});
  rank.begin_step(1);
  EXPECT_EQ(rank.told().back().value, 10u);
}

TEST(NoiseGate, DrawsAnExponentialWithTheOrderedMean) {
  constexpr int kDraws = 200'000;
  Random random(42);
  double sum = 0, above_twice = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = -std::log(random.unit());
    sum += drawn;
    above_twice += drawn > 2;
  }
  EXPECT_NEAR(sum / kDraws, 1, 0.01);
  EXPECT_NEAR(above_twice / kDraws, std::exp(-2), 0.005);
}

TEST(NoiseGate, HoldsAtLeastAsLongAsDrawnOnAverage) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, 5000, 0, 1});
  rank.begin_steps(0, 1000);
  double sum = 0;
  for (const std::int64_t length : hold_lengths(rank.told())) sum += static_cast<double>(length);
  EXPECT_GT(sum / 1000, 0.8 * 5000);
}

TEST(NoiseGate, RepeatsItselfWithItsSeedAndDiffersByRank) {
  const auto draws = [](std::uint64_t seed) {
    Random random(seed);
    return std::vector<std::uint64_t>{random.next(), random.next(), random.next()};
  };
  EXPECT_EQ(draws(5), draws(5));
  EXPECT_NE(draws(5), draws(6));
}

TEST(NoiseGate, InterruptsOncePerPeriodHoweverFewStepsThereAre) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kPeriodic, 10'000, 1000, 1});  // 10 us every ms.
  rank.begin_step(0);
  const wire::Nanoseconds begin = shm::monotonic_now();
  while (shm::monotonic_now() - begin < wire::Nanoseconds{20 * kMs}) {
  }
  rank.begin_step(1);
  const std::vector<std::int64_t> lengths = hold_lengths(rank.told());
  ASSERT_FALSE(lengths.empty());
  EXPECT_GE(lengths.back(), 19 * 10'000);
}

TEST(NoiseGate, DoesNotInterruptWithinAPeriod) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kPeriodic, 10'000, 1e-3, 1});  // Every 1000 s.
  rank.begin_steps(0, 1000);
  EXPECT_THAT(rank.told(), IsEmpty());
  EXPECT_TRUE(rank.is_called());
}

TEST(NoiseGate, IgnoresWhatWouldNeverLetTheRankGoOn) {
  const std::vector<shm::Noise> impossible = {{1, 9, kPeriodic, kMs, 1000, 1}, {1, 9, kPeriodic, 1000, 0, 1},
                                              {1, 9, kPeriodic, 1000, -5, 1},  {1, 9, kPeriodic, 1000, NAN, 1},
                                              {1, 9, kExponential, 0, 0, 1},   {1, 9, kExponential, -5, 0, 1},
                                              {1, 9, 99, 1000, 10, 1},         {1, 9, 256, 1000, 10, 1}};
  for (const shm::Noise& noise : impossible) {
    SteppingRank rank;
    shm::set_noise(rank.slot(), noise);
    rank.begin_steps(0, 100);
    EXPECT_THAT(rank.told(), IsEmpty()) << noise.kind << " " << noise.amount_ns << " " << noise.frequency;
    EXPECT_FALSE(rank.is_called());
  }
}

TEST(NoiseGate, IsReadWholeWhileItsWriterChangesIt) {
  const Segment segment;
  shm::Slot& slot = segment.slot();
  std::atomic<bool> done{false};
  std::thread agent([&] {
    for (std::uint32_t i = 1; i < 100'000; ++i) shm::set_noise(slot, {1, i, i, i, static_cast<double>(i), i});
    done.store(true);
  });
  std::uint32_t generation = 0;
  shm::Noise noise;
  while (!done.load()) {
    if (!shm::read_noise(slot, generation, noise)) continue;
    ASSERT_EQ(noise.kind, noise.command);
    ASSERT_EQ(noise.amount_ns, noise.command);
    ASSERT_EQ(noise.seed, noise.command);
  }
  agent.join();
}

}  // namespace
}  // namespace idlewave::client
