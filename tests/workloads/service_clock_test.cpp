#include "workloads/kernels/service_clock.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/workloads/exact_run.h"

namespace idlewave::kernels {
namespace {

const BandwidthCurve kCurve = BandwidthCurve::saturating(10e9, 50e9);

/// A member that enters at `at` with `bytes`.
struct Entry {
  double at;
  double bytes;
};

/// By the definition: in each little slice of time every active member gets b(n)/n. Returns when each is done.
std::vector<double> slowly(const std::vector<Entry>& entries, const BandwidthCurve& curve, double slice) {
  std::vector<double> left;
  for (const Entry& entry : entries) left.push_back(entry.bytes);
  std::vector<double> done(entries.size(), -1);
  for (double now = 0; std::ranges::any_of(done, [](double d) { return d < 0; }); now += slice) {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].at <= now && left[i] > 0) active.push_back(i);
    }
    for (const std::size_t i : active) {
      left[i] -= curve.of_each(static_cast<int>(active.size())) * 1e-9 * slice;
      if (left[i] <= 0) done[i] = now + slice;
    }
  }
  return done;
}

/// With the service clock, which is looked at when somebody enters and never else.
std::vector<double> by_clock(const std::vector<Entry>& entries, const BandwidthCurve& curve) {
  ServiceClock clock;
  std::vector<double> targets(entries.size(), ServiceClock::kIdle);
  std::vector<double> done(entries.size(), -1);
  const auto note_those_done_by = [&](double moment) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (targets[i] == ServiceClock::kIdle || done[i] >= 0) continue;
      if (const double end = clock.finish_of(targets[i], targets, curve); end <= moment) done[i] = end;
    }
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    note_those_done_by(entries[i].at);
    clock.advance(targets, curve, entries[i].at);
    targets[i] = clock.service() + entries[i].bytes;
  }
  note_those_done_by(1e300);
  return done;
}

TEST(ServiceClock, LeavesALoneMemberItsOwnBandwidth) {
  ServiceClock clock;
  EXPECT_DOUBLE_EQ(clock.finish_of(1e6, std::vector{1e6}, kCurve), 1e5);  // 1 MB at 10 GB/s
}

TEST(ServiceClock, SharesASaturatedDomainEqually) {
  ServiceClock clock;
  const std::vector<double> targets(10, 1e6);
  EXPECT_DOUBLE_EQ(clock.finish_of(1e6, targets, kCurve), 2e5);  // 10 MB at 50 GB/s
}

TEST(ServiceClock, ForeseesThatDeparturesMakeTheOthersFaster) {
  ServiceClock clock;
  std::vector<double> targets(10, 1e6);
  targets[0] = 2e6;
  EXPECT_DOUBLE_EQ(clock.finish_of(2e6, targets, kCurve), 3e5);  // the second megabyte alone
}

TEST(ServiceClock, LetsNobodyShareWithAMemberThatIsDoneButAsleep) {
  ServiceClock clock;
  std::vector<double> targets(10, 1e6);
  clock.advance(targets, kCurve, 1e6);  // all were done at 2e5, and nobody looked
  EXPECT_DOUBLE_EQ(clock.service(), 1e6);
  targets[0] = clock.service() + 1e6;
  EXPECT_DOUBLE_EQ(clock.finish_of(targets[0], targets, kCurve), 1.1e6);
}

TEST(ServiceClock, StandsStillWhileNobodyIsActive) {
  ServiceClock clock;
  clock.advance(std::vector<double>(3, ServiceClock::kIdle), kCurve, 5e6);
  EXPECT_EQ(clock.service(), 0);
  EXPECT_EQ(clock.time(), 5e6);
}

TEST(ServiceClock, IgnoresAMomentThatIsPast) {
  ServiceClock clock;
  const std::vector<double> targets{1e9};
  clock.advance(targets, kCurve, 1000);
  const double service = clock.service();
  clock.advance(targets, kCurve, 10);
  EXPECT_EQ(clock.time(), 1000);
  EXPECT_EQ(clock.service(), service);
}

TEST(ServiceClock, DoesNotDependOnHowOftenItIsLookedAt) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> bytes{1e5, 1e7};
  std::vector<double> targets(10);
  for (double& target : targets) target = bytes(random);
  ServiceClock once;
  ServiceClock often;
  once.advance(targets, kCurve, 1e6);
  for (double now = 0; now <= 1e6; now += 97) often.advance(targets, kCurve, now);
  often.advance(targets, kCurve, 1e6);
  EXPECT_NEAR(once.service(), often.service(), 1e-3);
  EXPECT_NEAR(once.bytes_moved(), often.bytes_moved(), 1e-2);
}

TEST(ServiceClock, AgreesWithSharingByTinySlices) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 20; ++round) {
    std::vector<Entry> entries(2 + random() % 9);
    for (Entry& entry : entries)
      entry = {std::uniform_real_distribution<double>{0, 2e5}(random),
               std::uniform_real_distribution<double>{1e4, 1e6}(random)};
    std::ranges::sort(entries, {}, &Entry::at);
    constexpr double kSlice = 2;
    const std::vector<double> expected = slowly(entries, kCurve, kSlice);
    const std::vector<double> done = by_clock(entries, kCurve);
    for (std::size_t i = 0; i < entries.size(); ++i) EXPECT_NEAR(done[i], expected[i], 30 * kSlice) << i;
  }
}

TEST(ServiceClock, CountsExactlyTheBytesThatWereMoved) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random{seed};
  std::vector<double> targets(10, ServiceClock::kIdle);
  ServiceClock clock;
  double total = 0;
  double now = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t member = random() % targets.size();
    now = std::max(now, clock.finish_of(targets[member], targets, kCurve)) + random() % 1000;
    clock.advance(targets, kCurve, now);
    const double bytes = static_cast<double>(random() % 1'000'000);
    targets[member] = clock.service() + bytes;
    total += bytes;
  }
  clock.advance(targets, kCurve, 1e15);
  EXPECT_NEAR(clock.bytes_moved(), total, 1);
}

/// Ranks that move their volume, wait for both neighbours of a ring, and go on.
TEST(ServiceClock, IsDoneWithEachStepWhenTheExactSimulationIs) {
  tests::ExactProgram program;
  program.ranks = program.ranks_per_domain = 10;
  program.steps = 50;
  program.volume = 50e6;
  program.bandwidth = [](int n) { return kCurve.of_all(n); };
  program.delays = {{3, 4, std::chrono::milliseconds{37}}, {7, 9, std::chrono::milliseconds{12}}};
  const tests::ExactRun exact = tests::simulate(program);
  std::vector<std::pair<tests::WorkSpan, std::size_t>> spans;
  for (std::size_t rank = 0; rank < 10; ++rank) {
    for (const auto& work : exact.work[rank]) spans.emplace_back(work, rank);
  }
  std::ranges::sort(spans, {}, [](const auto& span) { return span.first.from; });
  constexpr double kTolerance = 50;  // bytes; a rank moves 5 a nanosecond
  std::vector<double> targets(10, ServiceClock::kIdle);
  ServiceClock clock;
  for (const auto& [work, rank] : spans) {
    clock.advance(targets, kCurve, work.from * 1e9);
    EXPECT_LE(targets[rank], clock.service() + kTolerance)
        << "rank " << rank << " begins a step before it is done with the last";
    targets[rank] = clock.service() + program.volume;
  }
  EXPECT_NEAR(clock.finish_of(std::ranges::max(targets), targets, kCurve), exact.makespan * 1e9, 100);
}

TEST(BandwidthCurve, SaturatesWhereItShould) {
  EXPECT_DOUBLE_EQ(kCurve.of_all(0), 0);
  EXPECT_DOUBLE_EQ(kCurve.of_all(1), 10e9);
  EXPECT_DOUBLE_EQ(kCurve.of_all(5), 50e9);
  EXPECT_DOUBLE_EQ(kCurve.of_all(10), 50e9);
  EXPECT_DOUBLE_EQ(kCurve.of_each(10), 5e9);
}

TEST(BandwidthCurve, SaturatesBetweenTwoNumbersOfProcesses) {
  const BandwidthCurve curve = BandwidthCurve::saturating(10e9, 45e9);
  EXPECT_DOUBLE_EQ(curve.of_all(4), 40e9);
  EXPECT_DOUBLE_EQ(curve.of_all(5), 45e9);
  EXPECT_DOUBLE_EQ(curve.of_all(9), 45e9);
}

TEST(BandwidthCurve, GoesOnFlatBeyondItsLastPoint) {
  const BandwidthCurve curve{{10e9, 19e9, 24e9}};
  EXPECT_DOUBLE_EQ(curve.of_all(3), 24e9);
  EXPECT_DOUBLE_EQ(curve.of_all(8), 24e9);
}

TEST(BandwidthCurve, NeverLetsCompanyMakeAProcessFaster) {
  const BandwidthCurve curve{{10e9, 21e9, 24e9}};
  EXPECT_DOUBLE_EQ(curve.of_all(2), 20e9);
  for (int n = 1; n < 10; ++n) EXPECT_GE(curve.of_each(n), curve.of_each(n + 1));
}

}  // namespace
}  // namespace idlewave::kernels
