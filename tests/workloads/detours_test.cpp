#include "workloads/selfish/detours.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <random>

#include "workloads/selfish/histogram.h"

namespace idlewave::selfish {
namespace {

using namespace std::chrono_literals;
using support::Detour;

/// Each reading takes between 20 and 60 ns, and now and then the processor is away for longer.
class DisturbedClock {
 public:
  explicit DisturbedClock(unsigned seed) : random_(seed) {}

  Nanoseconds operator()() {
    const Nanoseconds before = now_;
    now_ += Nanoseconds{std::uniform_int_distribution<std::int64_t>{20, 60}(random_)};
    if (disturbed_ && std::uniform_int_distribution{0, 99}(random_) == 0) {
      const Nanoseconds away{std::uniform_int_distribution<std::int64_t>{400, 5'000'000}(random_)};
      detours_.push_back({before, away});
      now_ += away;
    }
    return now_;
  }

  void disturb() { disturbed_ = true; }
  Nanoseconds now() const { return now_; }
  const std::vector<Detour>& detours() const { return detours_; }

 private:
  std::mt19937 random_;
  bool disturbed_ = false;
  Nanoseconds now_ = 1'000'000'000ns;
  std::vector<Detour> detours_;
};

TEST(Detours, AreThoseThatTheProcessorWasAwayFor) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  DisturbedClock clock{seed};
  const Rhythm rhythm = rhythm_of(std::ref(clock), 10'000);
  EXPECT_EQ(rhythm.shortest, 20ns);
  clock.disturb();
  const Measurement found = measure(std::ref(clock), {rhythm.shortest, 9 * rhythm.shortest, 2s, 100'000});

  // The first reading of the loop is not an iteration: what came in it is before the begin.
  const Nanoseconds end = clock.now();
  const Nanoseconds begin = end - found.trace.back().start;
  std::vector<Detour> truth = clock.detours();
  std::erase_if(truth, [&](const Detour& detour) { return detour.start < begin; });
  ASSERT_EQ(found.trace.size(), truth.size() + 1);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_EQ(found.trace[i].start + begin, truth[i].start);
    EXPECT_GE(found.trace[i].duration, truth[i].duration);
    EXPECT_LE(found.trace[i].duration, truth[i].duration + 40ns);
  }
  EXPECT_EQ(found.trace.back().duration, 0ns);
  EXPECT_GE(found.trace.back().start, 2s);
}

TEST(Detours, EndTheLoopOnceThereAreEnough) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  DisturbedClock clock{seed};
  clock.disturb();
  const Measurement found = measure(std::ref(clock), {20ns, 180ns, 24h, 7});
  EXPECT_EQ(found.trace.size(), 8u);
}

TEST(Detours, OfASilentProcessorAreATraceWithoutAny) {
  DisturbedClock clock{any_seed()};
  const Measurement found = measure(std::ref(clock), {20ns, 180ns, 1ms, 7});
  ASSERT_EQ(found.trace.size(), 1u);
  EXPECT_GE(found.trace[0].start, 1ms);
}

TEST(Rhythm, SaysWhatTimesAreMultiplesOfAndHowOftenACoarseClockStoodStill) {
  std::int64_t reading = 0;
  const auto coarse = [&] { return Nanoseconds{++reading / 4 * 100}; };  // four readings a step
  const Rhythm rhythm = rhythm_of(coarse, 4000);
  EXPECT_EQ(rhythm.shortest, 100ns);
  EXPECT_EQ(rhythm.granularity, 100ns);
  EXPECT_EQ(rhythm.repeated, 3000u);
}

TEST(Rhythm, OfAClockThatStandsStillIsNone) {
  const Rhythm rhythm = rhythm_of([] { return 5ns; }, 10);
  EXPECT_EQ(rhythm.shortest, 0ns);
  EXPECT_EQ(rhythm.granularity, 0ns);
}

TEST(DetourHistogram, CountsByPowersOfTwo) {
  const Histogram histogram = histogram_of({{0ns, 1ns}, {5ns, 1023ns}, {2us, 1024ns}, {9us, 1500ns}, {20us, 0ns}});
  EXPECT_EQ(histogram.detours[0], 1);
  EXPECT_EQ(histogram.detours[9], 1);
  EXPECT_EQ(histogram.detours[10], 2);
  EXPECT_EQ(histogram.nanoseconds[10], 2524);
  EXPECT_EQ(begin_of_bin(10), 1024ns);
}

TEST(NoiseTraceText, IsReadBackAsTheSameTrace) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  DisturbedClock clock{seed};
  clock.disturb();
  const NoiseTrace trace = measure(std::ref(clock), {20ns, 180ns, 3s, 1000}).trace;
  // nearly all of it is detours, which no reader takes: an hour of silence behind them
  NoiseTrace quiet = trace;
  quiet.back().start += 1h;
  const auto read = support::parse_noise_trace(support::to_text(quiet), "written");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), quiet.size());
  for (std::size_t i = 0; i < quiet.size(); ++i) {
    EXPECT_EQ((*read)[i].start, quiet[i].start);
    EXPECT_EQ((*read)[i].duration, quiet[i].duration);
  }
}

}  // namespace
}  // namespace idlewave::selfish
