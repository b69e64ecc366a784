#include <gmock/gmock.h>

#include "tests/workloads/sparse/random_matrix.h"
#include "workloads/sparse/banded.h"
#include "workloads/sparse/holstein_hubbard.h"
#include "workloads/sparse/poisson.h"

namespace idlewave::sparse {
namespace {

using testing_sparse::Dense;
using testing_sparse::dense_of;

Matrix model(const HolsteinHubbard& wanted) {
  auto made = holstein_hubbard(wanted);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

void expect_symmetric(const Matrix& matrix) {
  EXPECT_TRUE(matrix.symmetric);
  const Dense dense = dense_of(matrix);
  for (std::size_t i = 0; i < dense.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(dense[i][j], dense[j][i]) << i << ", " << j;
}

void expect_ascending_columns(const Matrix& matrix) {
  for (Index row = 0; row < matrix.rows; ++row) {
    std::vector<Entry> entries{{-1, 0}};
    matrix.append_row(row, entries);
    for (std::size_t i = 1; i < entries.size(); ++i) ASSERT_LT(entries[i - 1].column, entries[i].column) << row;
    ASSERT_LT(entries.back().column, matrix.rows);
  }
}

double nonzeros_per_row(const Matrix& matrix, Index samples) {
  std::vector<Entry> entries;
  for (Index number = 0; number < samples; ++number) matrix.append_row(number * 1'000'003 % matrix.rows, entries);
  return double(entries.size()) / double(samples);
}

TEST(HolsteinHubbard, HasTheRowsOfThePaper) {
  EXPECT_EQ(model({.electrons = 6, .phonons = 0}).rows, 400);     // schubert-2011, section 1.3.1: electrons
  EXPECT_EQ(model({.electrons = 0, .phonons = 15}).rows, 15504);  // 1.55 * 10^4: phonons
  EXPECT_EQ(model({}).rows, 6'201'600);                           // 6.2 * 10^6
  EXPECT_NEAR(nonzeros_per_row(model({}), 9973), 15, 2);          // N_nzr about 15
}

TEST(HolsteinHubbard, IsSymmetricWhateverItsSize) {
  for (int sites = 1; sites <= 4; ++sites) {
    for (int electrons = 0; electrons <= 2 * sites; ++electrons) {
      const Matrix matrix = model({.sites = sites, .electrons = electrons, .phonons = 2});
      expect_ascending_columns(matrix);
      expect_symmetric(matrix);
    }
  }
}

TEST(HolsteinHubbard, IsTheSameMatrixInEitherNumbering) {
  HolsteinHubbard wanted{.sites = 3, .electrons = 3, .phonons = 3};
  const Dense electrons_first = dense_of(model(wanted));
  wanted.numbering = Numbering::kPhonons;
  const Dense phonons_first = dense_of(model(wanted));
  const std::size_t electrons = 9, phonons = electrons_first.size() / electrons;
  for (std::size_t i = 0; i < electrons_first.size(); ++i)
    for (std::size_t j = 0; j < electrons_first.size(); ++j)
      ASSERT_EQ(electrons_first[i][j],
                phonons_first[i % electrons * phonons + i / electrons][j % electrons * phonons + j / electrons]);
}

TEST(HolsteinHubbard, RefusesMoreRowsThanCanBeNumbered) {
  const auto made = holstein_hubbard({.sites = 14, .electrons = 14, .phonons = 1000});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, testing::HasSubstr("fewer --phonons"));
}

TEST(Poisson, IsSymmetricAndKeepsConstantsInside) {
  for (const Index rows : {1, 2, 3, 20, 400}) {
    const Matrix matrix = poisson(rows);
    expect_ascending_columns(matrix);
    expect_symmetric(matrix);
  }
  const Matrix matrix = poisson(400);
  for (Index row = 0; row < matrix.rows; ++row) {
    std::vector<Entry> entries;
    matrix.append_row(row, entries);
    double sum = 0;
    for (const Entry& entry : entries) sum += entry.value;
    const bool inside = row % 20 > 0 && row % 20 < 19 && row / 20 > 0 && row / 20 < 19;
    if (!inside) continue;
    EXPECT_NEAR(sum, 0, 1e-12) << row;
  }
}

TEST(Poisson, HasSevenEntriesInARowAndIsIrregular) {
  const Matrix matrix = poisson(1'000'000);
  EXPECT_EQ(matrix.rows, 1'000'000);
  EXPECT_NEAR(nonzeros_per_row(matrix, 9973), 7, 0.1);
  std::size_t fewest = 100, most = 0;
  for (Index row = 500'100; row < 500'900; ++row) {
    std::vector<Entry> entries;
    matrix.append_row(row, entries);
    fewest = std::min(fewest, entries.size());
    most = std::max(most, entries.size());
  }
  EXPECT_LE(fewest, 5);
  EXPECT_GE(most, 9);
}

TEST(Poisson, RoundsRowsDownToWholeLines) {
  EXPECT_EQ(poisson(1).rows, 1);
  EXPECT_EQ(poisson(3).rows, 3);
  EXPECT_EQ(poisson(11).rows, 9);
  EXPECT_EQ(poisson(12).rows, 12);
}

TEST(Banded, IsSymmetricWithAbout123EntriesInARow) {
  for (const Index rows : {1, 4, 5, 7, 601}) {
    expect_ascending_columns(banded(rows));
    expect_symmetric(banded(rows));
  }
  EXPECT_NEAR(nonzeros_per_row(banded(4'500'000), 9973), 123, 1);  // UHBR of schubert-2011, section 1.3.1
}

}  // namespace
}  // namespace idlewave::sparse
