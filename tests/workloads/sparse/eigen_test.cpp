// Against Eigen, which knows nothing of us.
#include <gmock/gmock.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <unsupported/Eigen/SparseExtra>

#include "tests/any_seed.h"
#include "tests/workloads/sparse/random_matrix.h"
#include "tests/workloads/sparse/written_file.h"
#include "workloads/sparse/halo.h"
#include "workloads/sparse/holstein_hubbard.h"
#include "workloads/sparse/kernel.h"
#include "workloads/sparse/matrix_market.h"
#include "workloads/sparse/poisson.h"

namespace idlewave::sparse {
namespace {

using testing_sparse::real;

Eigen::MatrixXd as_eigen(const Matrix& matrix) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(matrix.rows, matrix.rows);
  for (Index row = 0; row < matrix.rows; ++row) {
    std::vector<Entry> entries;
    matrix.append_row(row, entries);
    for (const Entry& entry : entries) dense(row, entry.column) += entry.value;
  }
  return dense;
}

Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& symmetric) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

/// An operator that adds or removes one particle of fermion mode `mode`: the sign of Jordan and Wigner, by counting.
struct Fermions {
  static double sign_below(unsigned state, int mode) { return std::popcount(state & ((1U << mode) - 1)) % 2 ? -1 : 1; }
  /// c+_to c_from; 0: nothing is left.
  static double hop(unsigned& state, int from, int to) {
    if (!(state >> from & 1)) return 0;
    double sign = sign_below(state, from);
    state ^= 1U << from;
    if (state >> to & 1) return 0;
    sign *= sign_below(state, to);
    state ^= 1U << to;
    return sign;
  }
};

struct State {
  unsigned electrons = 0;  ///< Mode i: spin up on site i, mode sites + i: spin down.
  std::vector<int> quanta;
  auto operator<=>(const State&) const = default;
};

/// All states, in whatever order, by trying all occupations; the mean-free modes are any orthonormal basis.
Eigen::MatrixXd slow_hamiltonian(const HolsteinHubbard& m, const Eigen::MatrixXd& modes) {
  std::vector<std::vector<int>> lattice{{}};
  for (int mode = 0; mode + 1 < m.sites; ++mode) {
    std::vector<std::vector<int>> longer;
    for (const auto& each : lattice)
      for (int quanta = 0; quanta <= m.phonons; ++quanta) {
        longer.push_back(each);
        longer.back().push_back(quanta);
      }
    lattice = longer;
  }
  const auto sum = [](const std::vector<int>& quanta) {
    int all = 0;
    for (const int each : quanta) all += each;
    return all;
  };
  std::map<State, int> numbers;
  const unsigned one_spin = (1U << m.sites) - 1;
  for (unsigned electrons = 0; electrons < (1U << 2 * m.sites); ++electrons) {
    if (std::popcount(electrons & one_spin) != (m.electrons + 1) / 2) continue;
    if (std::popcount(electrons >> m.sites) != m.electrons / 2) continue;
    for (const auto& quanta : lattice)
      if (sum(quanta) <= m.phonons) numbers.emplace(State{electrons, quanta}, int(numbers.size()));
  }
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(Eigen::Index(numbers.size()), Eigen::Index(numbers.size()));
  for (const auto& [state, column] : numbers) {
    for (int spin = 0; spin < 2; ++spin) {
      for (int site = 0; site < (m.sites > 2 ? m.sites : m.sites - 1); ++site) {
        const int a = spin * m.sites + site, b = spin * m.sites + (site + 1) % m.sites;
        for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
          State after = state;
          const double sign = Fermions::hop(after.electrons, from, to);
          if (sign != 0) h(numbers.at(after), column) -= m.hopping * sign;
        }
      }
    }
    const unsigned both = state.electrons & (state.electrons >> m.sites) & one_spin;
    h(column, column) += m.repulsion * std::popcount(both) + m.frequency * sum(state.quanta);
    for (int mode = 0; mode + 1 < m.sites; ++mode) {
      double density = 0;
      for (int site = 0; site < m.sites; ++site)
        density += modes(site, mode) * ((state.electrons >> site & 1) + (state.electrons >> (site + m.sites) & 1));
      State more = state;
      const double root = std::sqrt(++more.quanta[std::size_t(mode)]);
      const auto found = numbers.find(more);
      if (found == numbers.end()) continue;
      h(found->second, column) -= m.coupling * m.frequency * density * root;
      h(column, found->second) -= m.coupling * m.frequency * density * root;
    }
  }
  return h;
}

/// Columns without a mean, orthonormal, at random otherwise.
Eigen::MatrixXd random_modes(std::mt19937& random, int sites) {
  Eigen::MatrixXd columns(sites, sites);
  for (int i = 0; i < sites; ++i)
    for (int j = 0; j < sites; ++j) columns(i, j) = j == 0 ? 1 : real(random, -1, 1);
  return Eigen::MatrixXd(Eigen::HouseholderQR<Eigen::MatrixXd>(columns).householderQ()).rightCols(sites - 1);
}

TEST(HolsteinHubbard, HasTheSpectrumOfTheHamiltonianInAnyModesOfTheLattice) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  for (const auto& [sites, electrons, phonons] : {std::array{2, 2, 4}, {3, 2, 3}, {3, 3, 2}, {3, 5, 3}, {4, 3, 1}}) {
    const HolsteinHubbard wanted{sites,
                                 electrons,
                                 phonons,
                                 Numbering::kElectrons,
                                 real(random, 0.5, 2),
                                 real(random, 0, 6),
                                 real(random, 0.2, 2),
                                 real(random, 0.2, 2)};
    const Eigen::VectorXd expected = eigenvalues(slow_hamiltonian(wanted, random_modes(random, sites)));
    const Eigen::VectorXd found = eigenvalues(as_eigen(*holstein_hubbard(wanted)));
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-9) << sites << " sites, " << electrons << " electrons";
  }
}

TEST(HolsteinHubbard, HasTheEnergiesThatAreKnownInClosedForm) {
  const Matrix dimer = *holstein_hubbard({.sites = 2, .electrons = 2, .phonons = 0, .hopping = 1.5, .repulsion = 3});
  EXPECT_NEAR(eigenvalues(as_eigen(dimer))[0], (3 - std::sqrt(9 + 16 * 1.5 * 1.5)) / 2, 1e-12);
  // an oscillator displaced by an electron that can't hop: -g^2 w0 |f(i)|^2
  const Matrix polaron =
      *holstein_hubbard({.sites = 2, .electrons = 1, .phonons = 40, .hopping = 0, .coupling = 0.8, .frequency = 1.25});
  EXPECT_NEAR(eigenvalues(as_eigen(polaron))[0], -0.64 * 1.25 / 2, 1e-9);
}

/// Of a membrane with fixed edges, 2 pi^2 / edge^2, where a point has the mass of a cell.
TEST(Poisson, HasTheLowestEigenvalueOfAMembrane) {
  const int lines = 20;
  const double lowest = eigenvalues(as_eigen(poisson(lines * lines)))[0];
  EXPECT_NEAR(lowest, 2 * std::pow(std::numbers::pi / (lines + 1), 2), 0.05 * lowest);
}

TEST(MatrixMarket, IsReadAndMultipliedAsEigenDoes) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  const testing_sparse::WrittenFile file;
  for (int round = 0; round < 60; ++round) {
    const bool symmetric = round % 2 == 1;
    const int rows = testing_sparse::write_random(random, file, "real", symmetric);
    Eigen::SparseMatrix<double> read(rows, rows);
    ASSERT_TRUE(Eigen::loadMarket(read, file.path()));
    if (symmetric) read = Eigen::SparseMatrix<double>(read.selfadjointView<Eigen::Lower>());
    const auto header = read_market_header(file.path());
    ASSERT_TRUE(header) << header.error().message;
    auto part = read_market_part(*header, 0, 1);
    ASSERT_TRUE(part) << part.error().message;
    const Rows own = rows_of(std::move(part->triplets), 0, rows);
    Eigen::VectorXd x(rows), y(rows);
    for (int i = 0; i < rows; ++i) x[i] = real(random, -1, 1);
    multiply(local_part(own), {0, std::size_t(rows)}, x.data(), y.data());
    EXPECT_LT((y - read * x).cwiseAbs().maxCoeff(), 1e-12);
  }
}

}  // namespace
}  // namespace idlewave::sparse
