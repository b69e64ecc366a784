#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "workloads/kernels/divide.h"
#include "workloads/kernels/stream.h"
#include "workloads/support/pause.h"

namespace idlewave::kernels {
namespace {

std::vector<double> counting_from(double first, std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(Triad, AddsAScaledArray) {
  std::vector<double> a(1001);
  const auto b = counting_from(1, a.size());
  const auto c = counting_from(7, a.size());
  triad(a, b, c, 3);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i] + 3 * c[i]) << i;
}

TEST(TriadNt, DoesTheSameWhereverItsArraysBeginAndEnd) {
  for (std::size_t offset = 0; offset < 3; ++offset) {
    for (std::size_t n = 0; n < 9; ++n) {
      std::vector<double> whole(16, -1.0);
      const auto b = counting_from(1, n);
      const auto c = counting_from(7, n);
      triad_nt(std::span{whole}.subspan(offset, n), b, c, 3);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const bool inside = i >= offset && i < offset + n;
        ASSERT_EQ(whole[i], inside ? b[i - offset] + 3 * c[i - offset] : -1.0)
            << "offset " << offset << " n " << n << " i " << i;
      }
    }
  }
}

TEST(SlowTriad, AddsACosineOfAQuotient) {
  std::vector<double> a(100);
  const auto b = counting_from(1, a.size());
  const auto c = counting_from(7, a.size());
  const auto d = counting_from(2, a.size());
  slow_triad(a, b, c, d);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_DOUBLE_EQ(a[i], b[i] + std::cos(c[i] / d[i])) << i;
}

TEST(Stream, CountsTheWriteAllocateOfAnOrdinaryStore) {
  EXPECT_EQ(bytes_per_iteration(StreamKind::kTriad), 4 * sizeof(double));
  EXPECT_EQ(bytes_per_iteration(StreamKind::kSlowTriad), 5 * sizeof(double));
  EXPECT_EQ(bytes_per_iteration(StreamKind::kTriadNt), (kHasNonTemporalStores ? 3 : 4) * sizeof(double));
}

TEST(Stream, GoesRoundItsArraysAsOftenAsTheVolumeWants) {
  for (const StreamKind kind : {StreamKind::kTriad, StreamKind::kTriadNt, StreamKind::kSlowTriad}) {
    Stream stream{kind, 7};
    stream.move(0);
    stream.move(1000 * bytes_per_iteration(kind) + 1);
  }
}

TEST(DivideChain, GoesToAndFroBetweenTwoValues) {
  EXPECT_EQ(divide_chain(0), 1.3);
  EXPECT_EQ(divide_chain(1), 1.7 / 1.3);
  EXPECT_NEAR(divide_chain(1'000'000), 1.3, 1e-9);
}

TEST(DivideChain, IsCalibratedToATimeThatItDoesNotFallShortOf) {
  using namespace std::chrono_literals;
  const std::uint64_t divisions = divisions_lasting(20ms);
  const auto start = support::monotonic_now();
  [[maybe_unused]] volatile const double kept = divide_chain(divisions);
  EXPECT_GT(support::monotonic_now() - start, 10ms);
}

TEST(DivideChain, LastsTwiceAsLongForTwiceTheTime) {
  using namespace std::chrono_literals;
  const auto ratio = static_cast<double>(divisions_lasting(200ms)) / static_cast<double>(divisions_lasting(100ms));
  EXPECT_GT(ratio, 0.5);
  EXPECT_LT(ratio, 8);
}

}  // namespace
}  // namespace idlewave::kernels
