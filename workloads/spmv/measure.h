#pragma once
// Products of a matrix in all modes on a number of processes.

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/spmv/product.h"

namespace idlewave::spmv {

/// Whoever measures, with what and as what.
struct Bench {
  const Options& options;
  const Matrix& matrix;
  ranks::Group ranks;
  ranks::Group node;                ///< Those of them that share this one's memory.
  const distributed::Seats* seats;  ///< Null for real work.
  int pattern = 0;                  ///< The probe's number of their partners.
  std::int64_t& step;               ///< That the probe is told; goes on counting.
};

/// Each way in turn. An Error on any rank is reported by that rank, and then every rank gets nothing; of the runs only
/// rank 0 has the figures of all. Collective over `bench.ranks`.
std::optional<std::vector<Run>> measure(const Bench& bench);

}  // namespace idlewave::spmv
