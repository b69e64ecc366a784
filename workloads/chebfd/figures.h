#pragma once
// What is measured of a filter, and what follows from it.

#include <cstdint>
#include <optional>
#include <vector>

namespace idlewave::chebfd {

/// One process. Seconds in all.
struct RankFigures {
  double gather = 0;         ///< Elements that others need are copied into send buffers.
  double communication = 0;  ///< Messages are waited for.
  double reduction = 0;      ///< Scalar products of all ranks are waited for, in each step.
  double compute = 0;        ///< spmmv and chebfd_op.
  double filter = 0;         ///< All of it.
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  std::int64_t received = 0;  ///< Bytes of others' elements in a step.
  std::int64_t sources = 0;   ///< From so many ranks.
};

/// Over all vectors, and by p of algorithm 1: <T_p x, T_(p-1) x> and <T_(p-1) x, T_(p-1) x>, each over <x, x>, from p = 2.
struct AllMoments {
  std::vector<double> eta;
  std::vector<double> mu;
};

/// How far the result is from what it must be, at most.
struct Errors {
  std::optional<double> wave;      ///< Of a plane wave, from what the polynomial makes of it; without disorder.
  std::optional<double> moment;    ///< Of its scalar products, from the closed form.
  std::optional<double> symmetry;  ///< |<f(H) x, y> - <x, f(H) y>| / |x| |y|; with two vectors in a block.
};

/// Rank 0 has all of it.
struct Run {
  std::vector<RankFigures> ranks;
  AllMoments moments;
  Errors errors;
  std::int64_t steps = 0;
  double flops = 0;  ///< In all, of all processes.
  double bytes = 0;
};

double filter_time(const Run& run);   ///< Of the slowest process.
double performance(const Run& run);   ///< Flop per second.
double bandwidth(const Run& run);     ///< Bytes per second, by eq. 3.
double code_balance(const Run& run);  ///< Bytes per flop.

}  // namespace idlewave::chebfd
