#include "workloads/sparse/halo.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include "tests/workloads/sparse/random_matrix.h"
#include "workloads/sparse/kernel.h"

namespace idlewave::sparse {
namespace {

using namespace testing_sparse;
using testing_sparse::whole;  // beside that of a matrix

std::vector<double> random_vector(std::mt19937& random, std::size_t size) {
  std::vector<double> x(size);
  for (double& value : x) value = real(random, -1, 1);
  return x;
}

/// Own elements, and then what the sources send, each its own elements by their numbers there.
std::vector<double> with_halo(const Rows& rows, const Halo& halo, const Bounds& bounds, const std::vector<double>& x) {
  std::vector<double> own(x.begin() + rows.first, x.begin() + rows.end());
  for (const Halo::Source& source : halo.sources) {
    EXPECT_EQ(own.size(), std::size_t(rows.count() + source.first));
    for (std::int32_t i = source.first; i < source.first + source.count; ++i) {
      const Index column = halo.columns[std::size_t(i)];
      EXPECT_EQ(part_with(bounds, column), source.rank);
      own.push_back(x[std::size_t(column)]);
    }
  }
  return own;
}

std::vector<double> by_threads(const Crs& a, int threads, const double* x, std::vector<double> y, bool add) {
  for (const Range& range : shared_out(a, threads))
    add ? multiply_and_add(a, range, x, y.data()) : multiply(a, range, x, y.data());
  return y;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected, Index first) {
  for (std::size_t row = 0; row < got.size(); ++row)
    EXPECT_NEAR(got[row], expected[std::size_t(first) + row], 1e-12) << "row " << row << " behind " << first;
}

TEST(Halo, MakesPartsMultiplyAsTheDenseMatrixDoes) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const int size = whole(random, 1, 30), parts = whole(random, 1, 12), threads = whole(random, 1, 5);
    const Dense dense = random_dense(random, size);
    const Bounds bounds = random_bounds(random, size, parts);
    const std::vector<double> x = random_vector(random, std::size_t(size)), expected = product_of(dense, x);
    for (int part = 0; part < parts; ++part) {
      const Rows rows = rows_of(matrix_of(dense), bounds[std::size_t(part)], bounds[std::size_t(part) + 1]);
      const Halo halo = halo_of(rows, bounds);
      const std::vector<double> own = with_halo(rows, halo, bounds, x);
      std::vector<double> y(std::size_t(rows.count()), 1e300);
      expect_near(by_threads(whole(rows, halo), threads, own.data(), y, false), expected, rows.first);
      y = by_threads(local_part(rows), threads, own.data(), y, false);
      y = by_threads(nonlocal_part(rows, halo), threads, own.data() + rows.count(), y, true);
      expect_near(y, expected, rows.first);
    }
  }
}

TEST(Halo, IsEmptyWhereOnePartHasAll) {
  std::mt19937 random(1);
  const Rows rows = rows_of(matrix_of(random_dense(random, 12)), 0, 12);
  EXPECT_THAT(halo_of(rows, {0, 12}).columns, testing::IsEmpty());
  EXPECT_THAT(halo_of(rows, {0, 12}).sources, testing::IsEmpty());
}

TEST(Rows, OfTripletsInAnyOrderAreThoseOfTheMatrix) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    const int size = whole(random, 1, 20);
    const Dense dense = random_dense(random, size);
    const Rows expected = rows_of(matrix_of(dense), 0, size);
    std::vector<Triplet> triplets;
    for (Index row = 0; row < size; ++row)
      for (const Entry& entry : expected.row(row)) triplets.push_back({row, entry.column, entry.value});
    std::shuffle(triplets.begin(), triplets.end(), random);
    const Rows rows = rows_of(triplets, 0, size);
    EXPECT_EQ(rows.start, expected.start);
    for (std::size_t i = 0; i < rows.entries.size(); ++i) {
      EXPECT_EQ(rows.entries[i].column, expected.entries[i].column);
      EXPECT_EQ(rows.entries[i].value, expected.entries[i].value);
    }
  }
}

TEST(Rows, AddEntriesOfOnePlace) {
  const Rows rows = rows_of(std::vector<Triplet>{{4, 2, 1.5}, {3, 9, 7}, {4, 2, 2}, {4, 1, 5}}, 3, 6);
  EXPECT_EQ(rows.start, (std::vector<std::size_t>{0, 1, 3, 3}));
  EXPECT_EQ(rows.entries[2].column, 2);
  EXPECT_EQ(rows.entries[2].value, 3.5);
}

TEST(SharedOut, GivesThreadsConsecutiveRowsWithTheirShareOfNonzerosAndOneRowMore) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    const int size = whole(random, 1, 30), threads = whole(random, 1, 40);
    const Crs crs = local_part(rows_of(matrix_of(random_dense(random, size)), 0, size));
    std::size_t begin = 0;
    for (const Range& range : shared_out(crs, threads)) {
      EXPECT_EQ(range.begin, begin);
      begin = range.end;
      EXPECT_LE(crs.start[range.end] - crs.start[range.begin],
                crs.nonzeros() / std::size_t(threads) + 1 + std::size_t(size));
    }
    EXPECT_EQ(begin, std::size_t(size));
  }
}

}  // namespace
}  // namespace idlewave::sparse
