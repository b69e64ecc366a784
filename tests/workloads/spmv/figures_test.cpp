#include "workloads/spmv/figures.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/workloads/sparse/random_matrix.h"
#include "workloads/spmv/report.h"
#include "workloads/spmv/test_vector.h"

namespace idlewave::spmv {
namespace {

using testing::HasSubstr;

/// Two processes, 15 nonzeros in a row; 2.25 Gflop/s while they compute.
Run two_processes(Mode mode, int reserved = 0) {
  Run run{{mode, reserved}, std::vector<RankFigures>(2), "HMeP"};
  for (RankFigures& rank : run.ranks) {
    rank.rows = 1'000'000;
    rank.nonzeros = 15'000'000;
    rank.seconds[std::size_t(mode == Mode::kVector ? Part::kWhole : Part::kLocal)] = 30e6 / 1.125e9;
    rank.product = 0.05;
  }
  run.ranks[1].product = 0.06;
  return run;
}

TEST(Figures, AreThoseOfTheSlowestProcessAndOfAllNonzeros) {
  const auto run = two_processes(Mode::kVector);
  EXPECT_DOUBLE_EQ(product_time(run), 0.06);
  EXPECT_DOUBLE_EQ(performance(run), 60e6 / 0.06);
  EXPECT_NEAR(compute_performance(run), 2.25e9, 1);
}

TEST(Figures, HoldReservedThreadsAgainstMasteronly) {
  std::vector<spmv::Run> runs{two_processes(Mode::kVector), two_processes(Mode::kReserved, 1),
                              two_processes(Mode::kMultiple, 3)};
  for (RankFigures& rank : runs[0].ranks) {
    rank.local = rank.nonzeros / 2;
    rank.seconds[std::size_t(Part::kWhole)] = rank.product * 0.6;
    rank.seconds[std::size_t(Part::kCommunication)] = rank.product * 0.4;
  }
  runs[1].ranks[0].product = runs[1].ranks[1].product = 0.048;
  EXPECT_FALSE(ratio_of(runs[0], runs, 8));
  EXPECT_FALSE(ratio_of(runs[1], {runs[1]}, 8));
  const auto ratio = ratio_of(runs[1], runs, 8);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->measured, 0.06 / 0.048, 1e-12);
  EXPECT_NEAR(ratio->theory, 1 / (0.3 + std::max(0.4, 0.3 * 8 / 7)), 1e-12);
  EXPECT_NEAR(ratio_of(runs[2], runs, 8).value().theory, 1 / (0.3 + std::max(0.4 / 3, 0.3 * 8 / 5)), 1e-12);
  Options options;
  options.threads = 8;
  EXPECT_THAT(tables(options, runs),
              AllOf(HasSubstr("task mode with 3 reserved threads that share every message"),
                    HasSubstr("reserved with 1 of 8 threads: 1.25 times as fast as masteronly; theory 1.43"),
                    HasSubstr("multiple with 3 of 8 threads: 1.00 times as fast as masteronly; theory 1.28")));
  EXPECT_THAT(json(options, runs), AllOf(HasSubstr("\"mode\": \"multiple\""), HasSubstr("\"reserved\": 3")));
  runs[0].matrix = "another";
  EXPECT_FALSE(ratio_of(runs[1], runs, 8)) << "of another matrix";
  runs[0].matrix = runs[1].matrix;
  runs[0].ranks.pop_back();
  EXPECT_FALSE(ratio_of(runs[1], runs, 8)) << "on another number of processes";
}

TEST(Figures, TellKappaOfThePaper) {
  auto run = two_processes(Mode::kVector);
  EXPECT_FALSE(kappa_limit(run));  // nothing was measured
  run.triad_bandwidth = 18.1e9;    // schubert-2011, section 2
  EXPECT_NEAR(kappa_limit(run).value(), 2.5, 0.05);
  EXPECT_NEAR(code_balance(run), 6.8, 1e-12);
  run.triad_bandwidth = 10e9;
  EXPECT_FALSE(kappa_limit(run));  // less than one load of everything: it came from caches
  run = two_processes(Mode::kOverlap);
  EXPECT_NEAR(code_balance(run), 6 + 20 / 15.0, 1e-12);
}

TEST(Figures, PercentilesLieBetweenValues) {
  EXPECT_DOUBLE_EQ(percentile({3, 1, 2}, 50), 2);
  EXPECT_DOUBLE_EQ(percentile({3, 1, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(percentile({3, 1, 2}, 100), 3);
  EXPECT_DOUBLE_EQ(percentile({1, 2}, 25), 1.25);
  EXPECT_DOUBLE_EQ(percentile({7}, 90), 7);
}

TEST(Report, HasEachProcessAndEachPart) {
  Options options;
  const std::string text = tables(options, {two_processes(Mode::kVector), two_processes(Mode::kTask)});
  for (const char* word :
       {"HMeP: 2000000 rows", "vector mode without overlap, 2 processes: 60 ms", "code balance 6.80 B/flop",
        "task mode", "parallel region", "in it: communication", "x processes"})
    EXPECT_THAT(text, HasSubstr(word));
  EXPECT_THAT(json(options, {two_processes(Mode::kOverlap)}), HasSubstr("\"nonlocal\""));
}

TEST(Samples, AcceptTheProductAndNoOther) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    const int size = testing_sparse::whole(random, 1, 60);
    testing_sparse::Dense dense = testing_sparse::random_dense(random, size);
    for (int i = 0; i < size; ++i) dense[std::size_t(i)][std::size_t(i)] = 1;
    const sparse::Rows rows = sparse::rows_of(testing_sparse::matrix_of(dense), 0, size);
    const Samples samples(rows);
    std::array<std::vector<double>, kVectors> x, y;
    for (std::size_t vector = 0; vector < kVectors; ++vector) {
      for (int j = 0; j < size; ++j) x[vector].push_back(element(vector, j));
      y[vector] = testing_sparse::product_of(dense, x[vector]);
      EXPECT_EQ(samples.wrong(vector, y[vector]), 0);
      std::vector<double> other = y[vector];
      other[std::size_t(testing_sparse::whole(random, 0, size - 1))] += 1e-9;
      EXPECT_EQ(samples.wrong(vector, other), 1);
      other.assign(other.size(), std::nan(""));
      EXPECT_EQ(samples.wrong(vector, other), size);
    }
    Forms forms;
    add_product(0, rows, y[0], forms);
    add_product(1, rows, y[1], forms);
    double expected = 0;
    for (int j = 0; j < size; ++j) expected += x[1][std::size_t(j)] * y[0][std::size_t(j)];
    EXPECT_NEAR(forms.x1_A_x0, expected, 1e-11);
    EXPECT_GE(forms.magnitude, std::abs(expected) - 1e-11);
  }
}

}  // namespace
}  // namespace idlewave::spmv
