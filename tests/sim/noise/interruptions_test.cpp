#include "workloads/sim/noise/interruptions.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "workloads/sim/noise/make_noise.h"

namespace idlewave::sim::noise {
namespace {

using namespace std::chrono_literals;
using support::NoisePhase;

struct Interruption {
  double start;
  double duration;
};

/// The definition, word for word: the smallest e with e - begin = w + what begins within [begin, e), which is the limit
/// when one starts from w alone and counts again until nothing is new.
double idle_by_definition(const std::vector<Interruption>& all, double begin, double end) {
  double idle = 0;
  for (;;) {
    double sum = 0;
    for (const Interruption& i : all) {
      if (i.start >= begin && i.start < end + idle) sum += i.duration;
    }
    if (sum <= idle * (1 + 1e-12)) return sum;
    idle = sum;
  }
}

/// What began before `time` occupies the processor one after another, each from its start on or when the others are
/// over.
double free_by_definition(std::vector<Interruption> all, double time) {
  double free = -1e9;
  for (const Interruption& i : all) {
    if (i.start < time) free = std::max(free, i.start) + i.duration;
  }
  return std::max(free, time);
}

std::vector<Interruption> beats(double phase, double period, double duration, double until) {
  std::vector<Interruption> all;
  for (int k = -1; (phase + k) * period < until; ++k) all.push_back({(phase + k) * period, duration});
  return all;
}

TEST(TraceInterruptions, AWorkOfCenturiesUnderATraceOfNanosecondsEnds) {
  const support::NoiseTrace trace = {{support::Nanoseconds(0), support::Nanoseconds(1)},
                                     {support::Nanoseconds(2), support::Nanoseconds(0)}};
  const TraceInterruptions noise(trace, Phases(1, support::NoisePhase::kOwn));
  constexpr double kCenturies = 9e9;
  EXPECT_NEAR(noise.after(0, 0, 0, kCenturies), kCenturies, 1);
  const TraceInterruptions dense({{support::Nanoseconds(10), support::Nanoseconds(9999)}},
                                 Phases(1, support::NoisePhase::kOwn));
  EXPECT_NEAR(dense.after(0, 0, 1e6, 1.25e6), 0.25e6 * 999.9, 1e3);
  EXPECT_EQ(noise.free_from(0, kCenturies), kCenturies);
  EXPECT_EQ(noise.next_from(0, kCenturies), kCenturies);
}

TEST(PeriodicInterruptions, IsWhatItsDefinitionSays) {
  std::mt19937_64 random{3};
  const auto in = [&](double low, double high) { return std::uniform_real_distribution<double>{low, high}(random); };
  for (int i = 0; i < 3000; ++i) {
    const double period = in(1e-3, 1);
    const double duration = period * in(0.001, 0.95);
    const Phases phases{random(), i % 2 ? NoisePhase::kOwn : NoisePhase::kSame};
    const auto rank = static_cast<Rank>(i);
    const double begin = in(0, 20 * period);
    const double end = begin + period * (i % 3 ? in(0, 2) : in(0, 20));
    const double until = end + (end - begin) * duration / (period - duration) + 3 * period;
    const double expected = idle_by_definition(beats(phases.of(rank), period, duration, until), begin, end);
    const PeriodicInterruptions noise{duration, period, phases};
    ASSERT_NEAR(noise.after(rank, i, begin, end), expected, 1e-9 * duration) << "seed 3, case " << i;
    const double free = free_by_definition(beats(phases.of(rank), period, duration, until), begin);
    ASSERT_NEAR(noise.free_from(rank, begin), free, 1e-9 * duration) << "seed 3, case " << i;
  }
}

/// Work without a pause: nothing may be lost or counted twice where one phase ends and the next begins.
TEST(PeriodicInterruptions, CountsEachInterruptionOnceInWorkWithoutAPause) {
  for (const double work : {1e-3, 7.3e-3, 0.1, 0.75e-1, 0.33}) {
    const PeriodicInterruptions noise{2.5e-3, 0.1, Phases{11, NoisePhase::kOwn}};
    double now = 0, idle = 0;
    for (Step step = 0; now < 1000; ++step) {
      const double after = noise.after(3, step, now, now + work);
      now += work + after;
      idle += after;
    }
    EXPECT_NEAR(idle / 2.5e-3, now * 10, 1.001) << "work of " << work;
  }
}

TEST(PeriodicInterruptions, DoesNotCountAnInterruptionThatBeginsWhereTheWorkEnds) {
  const Phases phases{1, NoisePhase::kSame};
  const PeriodicInterruptions noise{0.25, 1, phases};
  const double start = phases.of(0) + 4;
  EXPECT_EQ(noise.after(0, 0, start - 0.125, start), 0);
  EXPECT_EQ(noise.after(0, 0, start, start + 0.125), 0.25);
  EXPECT_EQ(noise.after(0, 0, start, start), 0);
}

TEST(PeriodicInterruptions, CountsWhatComesWithinItsOwnExtension) {
  const Phases phases{1, NoisePhase::kSame};
  const PeriodicInterruptions noise{0.75, 1, phases};
  const double start = phases.of(0) + 4;
  EXPECT_EQ(noise.after(0, 0, start, start + 0.5), 1.5);
}

TEST(PeriodicInterruptions, KnowsToTheLastBitWhereAnInterruptionBegins) {
  std::mt19937_64 random{6};
  for (int i = 0; i < 20'000; ++i) {
    const double period = std::uniform_real_distribution<double>{1e-3, 1}(random);
    const Phases phases{random(), NoisePhase::kSame};
    const PeriodicInterruptions noise{period / 4, period, phases};
    const double start = (phases.of(0) + static_cast<double>(random() % 100'000)) * period;
    const double later = start + period / 8;
    ASSERT_EQ(noise.after(0, 0, start, later), period / 4) << "seed 6, case " << i;
    ASSERT_EQ(noise.after(0, 0, std::nextafter(start, 1e9), later), 0) << "seed 6, case " << i;
    ASSERT_EQ(noise.after(0, 0, std::nextafter(start, 0), start), 0) << "seed 6, case " << i;
  }
}

TEST(PeriodicInterruptions, TakesNoLongerForLongWork) {
  const PeriodicInterruptions noise{1e-9, 2e-9, Phases{1, NoisePhase::kOwn}};
  EXPECT_NEAR(noise.after(0, 0, 0, 1e6), 1e6, 1);
}

TEST(Phases, AreSpreadOverThePeriodOrTheSame) {
  const Phases own{5, NoisePhase::kOwn};
  const Phases same{5, NoisePhase::kSame};
  double sum = 0, squares = 0;
  for (Rank rank = 0; rank < 100'000; ++rank) {
    ASSERT_EQ(same.of(rank), same.of(0));
    sum += own.of(rank);
    squares += own.of(rank) * own.of(rank);
  }
  EXPECT_NEAR(sum / 1e5, 0.5, 5 / std::sqrt(12e5));
  EXPECT_NEAR(squares / 1e5, 1.0 / 3, 5 * 0.3 / std::sqrt(1e5));
  EXPECT_NE(same.of(0), (Phases{6, NoisePhase::kSame}.of(0)));
}

double share(const support::Noise& noise, double work, double until) {
  const auto made = make_noise(noise);
  EXPECT_TRUE(made);
  double idle = 0, now = 0;
  for (Step step = 0; now < until; ++step) {
    const double after = (*made)->after(0, step, now, now + work);
    now += work + after;
    idle += after;
  }
  return idle / now;
}

TEST(Profiles, HaveTheRatesOfThePaper) {
  EXPECT_NEAR(share({support::kDaemonNoise, 1}, 10e-3, 1000), 2.5e-3 * 10, 1e-5);
  EXPECT_NEAR(share({support::kCheckpointNoise, 1}, 10e-3, 120'000), 1.0 / 120, 2e-5);
}

TEST(Profiles, TakeCheckpointsAtADifferentMomentOnEachRank) {
  const auto noise = make_noise({support::kCheckpointNoise, 1});
  ASSERT_TRUE(noise);
  std::vector<int> hit(120);
  for (Rank rank = 0; rank < 12'000; ++rank) {
    for (int second = 0; second < 120; ++second)
      hit[static_cast<std::size_t>(second)] += (*noise)->after(rank, second, second, second + 1) > 0;
  }
  for (const int ranks : hit) EXPECT_NEAR(ranks, 100, 50);
}

TEST(SystemInterruptions, HasNoEventAbove35Microseconds) {
  const SystemInterruptions noise{1, Phases{1, NoisePhase::kOwn}};
  double longest = 0, sum = 0;
  for (std::int64_t tick = 0; tick < 200'000; ++tick) {
    longest = std::max(longest, noise.duration(0, tick));
    sum += noise.duration(0, tick);
  }
  EXPECT_LE(longest, 35e-6);
  EXPECT_GT(longest, 33e-6);
  // Mean of an exponential that is cut at c: s - c / (e^(c/s) - 1).
  EXPECT_NEAR(sum / 2e5, 5e-6 - 35e-6 / std::expm1(7.0), 5 * 5e-6 / std::sqrt(2e5));
}

TEST(SystemInterruptions, IsWhatTheDefinitionSaysOfItsTicks) {
  std::mt19937_64 random{4};
  const Phases phases{8, NoisePhase::kOwn};
  const SystemInterruptions noise{8, phases};
  for (int i = 0; i < 1000; ++i) {
    const auto rank = static_cast<Rank>(random() % 1000);
    const double begin = std::uniform_real_distribution<double>{0, 1}(random);
    const double end = begin + std::uniform_real_distribution<double>{0, 0.05}(random);
    auto ticks = beats(phases.of(rank), SystemInterruptions::kPeriod, 0, end + 1);
    for (std::size_t k = 0; k < ticks.size(); ++k)
      ticks[k].duration = noise.duration(rank, static_cast<std::int64_t>(k) - 1);
    ASSERT_NEAR(noise.after(rank, i, begin, end), idle_by_definition(ticks, begin, end), 1e-15) << "seed 4, case " << i;
    const auto tick = static_cast<std::size_t>(random() % ticks.size());
    const double within = ticks[tick].start + 2e-6;
    ASSERT_NEAR(noise.free_from(rank, within), free_by_definition(ticks, within), 1e-12) << "seed 4, case " << i;
  }
}

support::NoiseTrace random_trace(std::mt19937_64& random, std::int64_t limit) {
  support::NoiseTrace trace;
  std::int64_t start = 0;
  for (std::uint64_t n = 1 + random() % 12; n > 0; --n) {
    start += static_cast<std::int64_t>(random() % 1'000'000);
    trace.push_back({wire::Nanoseconds{start},
                     wire::Nanoseconds{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit))}});
  }
  trace.push_back({wire::Nanoseconds{start + 12 * limit + 1000}, 0ns});
  return trace;
}

std::vector<Interruption> over_and_over(const support::NoiseTrace& trace, double phase, double until) {
  const auto seconds = [](wire::Nanoseconds t) { return static_cast<double>(t.count()) * 1e-9; };
  const double length = seconds(trace.back().start + trace.back().duration);
  std::vector<Interruption> all;
  for (int round = -1; (round - phase) * length < until; ++round) {
    for (const auto& detour : trace)
      all.push_back({(round - phase) * length + seconds(detour.start), seconds(detour.duration)});
  }
  return all;
}

TEST(TraceInterruptions, IsWhatItsDefinitionSays) {
  std::mt19937_64 random{5};
  for (int i = 0; i < 2000; ++i) {
    const auto trace = random_trace(random, i % 2 ? 100'000 : 900'000);
    const double length = static_cast<double>(trace.back().start.count()) * 1e-9;
    const Phases phases{random(), i % 2 ? NoisePhase::kOwn : NoisePhase::kSame};
    const double begin = std::uniform_real_distribution<double>{0, 5 * length}(random);
    const double end = begin + std::uniform_real_distribution<double>{0, (i % 3 ? 1 : 10) * length}(random);
    const TraceInterruptions noise{trace, phases};
    const double idle = noise.after(9, i, begin, end);
    const auto all = over_and_over(trace, phases.of(9), end + 2 * idle + 2 * length);
    ASSERT_NEAR(idle, idle_by_definition(all, begin, end), 1e-12) << "seed 5, case " << i;
    ASSERT_NEAR(noise.free_from(9, end), free_by_definition(all, end), 1e-12) << "seed 5, case " << i;
  }
}

TEST(TraceInterruptions, OfAPeriodicTraceIsPeriodicNoise) {
  // The phase of a period counts from its start, that of a trace is where the run begins in it.
  support::NoiseTrace trace{{0ns, 2500us}, {100ms, 0ns}};
  const Phases phases{2, NoisePhase::kOwn};
  const TraceInterruptions traced{trace, phases};
  for (int i = 0; i < 1000; ++i) {
    const double begin = 0.0137 * i;
    const auto all = beats(1 - phases.of(4), 0.1, 2.5e-3, begin + 2);
    ASSERT_NEAR(traced.after(4, i, begin, begin + 0.3), idle_by_definition(all, begin, begin + 0.3), 1e-12);
  }
}

/// Nothing begins before, and something does then.
void expect_next(const PhaseNoise& noise, double length) {
  std::mt19937_64 random{6};
  for (int i = 0; i < 1000; ++i) {
    const double time = length * static_cast<double>(random() % 1'000'000) * 1e-5;
    const double next = noise.next_from(7, time);
    ASSERT_GE(next, time) << "seed 6, case " << i;
    ASSERT_EQ(noise.after(7, i, time, next), 0) << "seed 6, case " << i;
    ASSERT_GT(noise.after(7, i, time, next + 1e-6 * length), 0) << "seed 6, case " << i;
  }
}

TEST(Interruptions, TellWhenTheNextOneBegins) {
  const Phases phases{8, NoisePhase::kOwn};
  expect_next(PeriodicInterruptions{2.5e-3, 0.1, phases}, 0.1);
  expect_next(SystemInterruptions{9, phases}, SystemInterruptions::kPeriod);
  expect_next(TraceInterruptions{{{1ms, 200us}, {4ms, 30us}, {9ms, 10us}}, phases}, 9e-3);
}

}  // namespace
}  // namespace idlewave::sim::noise
