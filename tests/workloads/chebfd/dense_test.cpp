// The filter against Eigen, which finds all eigenvalues of the whole matrix, of random insulators with disorder.

#include <gmock/gmock.h>

#include <Eigen/Dense>
#include <algorithm>
#include <functional>
#include <random>

#include "tests/any_seed.h"
#include "workloads/chebfd/filter.h"
#include "workloads/chebfd/kernel.h"

namespace idlewave::chebfd {
namespace {

using Matrix = Eigen::MatrixXcd;

Insulator small_insulator(std::mt19937& random, double disorder) {
  const auto side = [&] { return std::uniform_int_distribution<>{1, 4}(random); };
  return {{side(), side(), side()}, disorder, random()};
}

Matrix dense(const Insulator& insulator) {
  const Index rows = rows_of(insulator);
  Matrix matrix = Matrix::Zero(rows, rows);
  std::vector<Element> elements;
  for (Index row = 0; row < rows; ++row) {
    elements.clear();
    append_row(insulator, row, elements);
    for (const Element& element : elements) matrix(row, element.column) = element.value;
  }
  return matrix;
}

/// Of H as its eigenvalues have it.
Matrix function_of(const Eigen::SelfAdjointEigenSolver<Matrix>& eigen, const std::function<double(double)>& function) {
  return eigen.eigenvectors() * eigen.eigenvalues().unaryExpr(function).cast<Complex>().asDiagonal() *
         eigen.eigenvectors().adjoint();
}

TEST(Insulator, HasTheEnergiesOfItsPlaneWaves) {
  std::mt19937 random(any_seed());
  for (int i = 0; i < 5; ++i) {
    const Insulator insulator = small_insulator(random, 0);
    std::vector<double> expected;
    for (Index site = 0; site < sites_of(insulator); ++site)
      for (const bool above : {true, false})
        for (int twice = 0; twice < 2; ++twice) expected.push_back(wave_of(insulator, site, above).energy);
    std::ranges::sort(expected);
    const Eigen::VectorXd energies = Eigen::SelfAdjointEigenSolver<Matrix>(dense(insulator)).eigenvalues();
    for (std::size_t j = 0; j < expected.size(); ++j) ASSERT_NEAR(energies[Index(j)], expected[j], 1e-12);
  }
}

/// The filter's vectors, all rows on one rank.
struct Block {
  BlockVectors x, u, w;
};

Block random_block(std::mt19937& random, std::size_t rows, std::size_t vectors) {
  Block block;
  for (std::size_t i = 0; i < rows * vectors; ++i)
    block.x.push_back({std::normal_distribution<>{}(random), std::normal_distribution<>{}(random)});
  block.u.resize(block.x.size());
  block.w.resize(block.x.size());
  return block;
}

Matrix as_matrix(const BlockVectors& values, std::size_t vectors) {
  using RowMajor = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(values.data(), Index(values.size() / vectors), Index(vectors));
}

/// All rows in two parts, as threads have them.
template <class Work>
void in_parts(std::size_t rows, Work work) {
  work(sparse::Range{0, rows / 3});
  work(sparse::Range{rows / 3, rows});
}

TEST(Filter, IsThatOfTheDenseMatrixAndSoAreItsMoments) {
  std::mt19937 random(any_seed());
  for (const std::size_t vectors : {1, 2, 4, 8, 16, 32}) {
    const Insulator insulator = small_insulator(random, 2);
    const auto part = part_of(insulator, {0, rows_of(insulator)}, 0);
    ASSERT_TRUE(part);
    const ComplexCrs& h = part->matrix;
    const Filter filter = filter_of({-1, 0.5}, largest_energy(insulator), 12);
    const Scale scale{0.85 * filter.alpha, 0.1};  // a shift, which a spectrum like ours never needs
    const auto chebyshev_of = [&](int p) {
      return [&, p](double energy) { return chebyshev(p, scale.alpha * energy + scale.beta); };
    };
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(dense(insulator));
    Block block = random_block(random, h.rows(), vectors);
    const Matrix start = as_matrix(block.x, vectors);
    in_parts(h.rows(),
             [&](const sparse::Range& rows) { spmmv(h, scale, rows, vectors, block.x.data(), block.u.data()); });
    block.w = block.x;
    Matrix expected = start;
    for (int p = 2; p <= 12; ++p) {
      Moments sums{std::vector<double>(vectors), std::vector<double>(vectors)};
      const double coefficient = filter.coefficients[std::size_t(p)];
      in_parts(h.rows(), [&](const sparse::Range& rows) {
        chebfd_op(h, scale, coefficient, rows, vectors, block.u.data(), block.w.data(), block.x.data(), sums);
      });
      const Matrix now = function_of(eigen, chebyshev_of(p)) * start,
                   before = function_of(eigen, chebyshev_of(p - 1)) * start;
      expected += coefficient * now;
      EXPECT_LT((as_matrix(block.w, vectors) - now).cwiseAbs().maxCoeff(), 1e-10);
      for (std::size_t v = 0; v < vectors; ++v) {
        const Index column = Index(v);
        EXPECT_NEAR(sums.eta[v], now.col(column).dot(before.col(column)).real(), 1e-9);
        EXPECT_NEAR(sums.mu[v], before.col(column).squaredNorm(), 1e-9);
      }
      std::swap(block.u, block.w);
    }
    EXPECT_LT((as_matrix(block.x, vectors) - expected).cwiseAbs().maxCoeff(), 1e-10) << vectors << " vectors";
  }
}

/// By Eigen: the polynomial is the sum that algorithm 1 has.
TEST(Filter, PassesWhatItsCoefficientsSay) {
  std::mt19937 random(any_seed());
  const Insulator insulator = small_insulator(random, 1);
  const Filter filter = filter_of({-2, -0.5}, largest_energy(insulator), 40);
  const Matrix h = dense(insulator) * filter.alpha;
  Matrix before = Matrix::Identity(h.rows(), h.cols()), now = h;
  Matrix sum = filter.coefficients[0] * before + filter.coefficients[1] * now;
  for (int p = 2; p <= 40; ++p) {
    const Matrix next = 2 * h * now - before;
    before = std::exchange(now, next);
    sum += filter.coefficients[std::size_t(p)] * now;
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(dense(insulator));
  const Matrix expected = function_of(eigen, [&](double energy) { return passed(filter, energy); });
  EXPECT_LT((sum - expected).cwiseAbs().maxCoeff(), 1e-11);
}

}  // namespace
}  // namespace idlewave::chebfd
