// The matrix against what is known of it: hermitian, 13 elements in a row, plane waves as eigenvectors.

#include "workloads/chebfd/insulator.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "tests/any_seed.h"
#include "workloads/chebfd/filter.h"

namespace idlewave::chebfd {
namespace {

Insulator random_insulator(std::mt19937& random, bool disordered) {
  const auto side = [&] { return std::uniform_int_distribution<>{1, 7}(random); };
  return {{side(), side(), side()}, disordered ? 2.5 : 0, random()};
}

std::map<Index, Complex> row_of(const Insulator& insulator, Index row) {
  std::vector<Element> elements;
  append_row(insulator, row, elements);
  std::map<Index, Complex> columns;
  Index before = -1;
  for (const Element& element : elements) {
    EXPECT_GT(element.column, before);
    before = element.column;
    columns[element.column] = element.value;
  }
  return columns;
}

TEST(Insulator, IsHermitian) {
  std::mt19937 random(any_seed());
  for (int i = 0; i < 20; ++i) {
    const Insulator insulator = random_insulator(random, i % 2 == 0);
    std::vector<std::map<Index, Complex>> rows;
    for (Index row = 0; row < rows_of(insulator); ++row) rows.push_back(row_of(insulator, row));
    for (Index row = 0; row < rows_of(insulator); ++row) {
      for (const auto& [column, value] : rows[std::size_t(row)])
        ASSERT_EQ(value, std::conj(rows[std::size_t(column)][row])) << row << ", " << column;
    }
  }
}

// Section 6: 128 x 64 x 64 sites are of dimension 2^21. Eq. 3 has 260 bytes of a row's nonzeros: 13 of 16 + 4 B.
TEST(Insulator, HasTheRowsAndNonzerosOfThePaper) {
  const Insulator insulator{{128, 64, 64}};
  EXPECT_EQ(rows_of(insulator), 1 << 21);
  for (const Index row : {0, 1, 12345, (1 << 21) - 1}) EXPECT_EQ(row_of(insulator, row).size(), 13u);
}

TEST(Insulator, HasPlaneWavesAsEigenvectors) {
  std::mt19937 random(any_seed());
  for (int i = 0; i < 20; ++i) {
    const Insulator insulator = random_insulator(random, false);
    for (const bool above : {true, false}) {
      const Wave wave = wave_of(insulator, Index(random() % std::uint64_t(sites_of(insulator))), above);
      EXPECT_EQ(wave.energy > 0, above);
      EXPECT_LE(std::abs(wave.energy), largest_energy(insulator) + 1e-12);
      for (Index row = 0; row < rows_of(insulator); ++row) {
        Complex sum = 0;
        for (const auto& [column, value] : row_of(insulator, row)) sum += value * element_of(wave, insulator, column);
        ASSERT_LT(std::abs(sum - wave.energy * element_of(wave, insulator, row)), 1e-12);
      }
    }
  }
}

TEST(Filter, LetsTheWindowPassAndNothingElse) {
  const Filter filter = filter_of({-0.5, 0.8}, 5, 400);
  for (const double energy : {-0.3, 0.0, 0.6}) EXPECT_NEAR(passed(filter, energy), 1, 0.01);
  for (const double energy : {-5.0, -1.0, 1.2, 5.0}) EXPECT_NEAR(passed(filter, energy), 0, 0.01);
}

}  // namespace
}  // namespace idlewave::chebfd
