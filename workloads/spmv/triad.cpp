#include "workloads/spmv/triad.h"

#include <omp.h>

#include <algorithm>
#include <vector>

#include "workloads/kernels/stream.h"
#include "workloads/ranks/agreement.h"
#include "workloads/support/last_cache.h"
#include "workloads/support/memory_limit.h"
#include "workloads/support/pause.h"

namespace idlewave::spmv {
namespace {

using kernels::Stream;
using kernels::StreamKind;
using support::monotonic_now;

constexpr std::size_t kArrays = 3;

/// Of one array of one thread, so that those of a node exceed its last-level caches several times.
std::size_t array_length(int threads_of_node) {
  constexpr std::size_t kTimesCache = 4, kLeast = 1'000'000;
  return std::max(kTimesCache * support::last_level_caches() /
                      (kArrays * sizeof(double) * static_cast<std::size_t>(threads_of_node)),
                  kLeast);
}

/// Seconds in which each thread moves `bytes` through its arrays.
double time_of(std::vector<Stream>& streams, std::size_t bytes) {
  const wire::Nanoseconds begin = monotonic_now();
#pragma omp parallel num_threads(static_cast <int>(streams.size())) if (streams.size() > 1)
  streams[static_cast<std::size_t>(omp_get_thread_num())].move(bytes);
  return std::chrono::duration<double>(monotonic_now() - begin).count();
}

}  // namespace

std::optional<double> triad_bandwidth(const ranks::Group& ranks, const ranks::Group& node, int threads) {
  constexpr int kTrials = 3;
  const int of_node = threads * node.size;
  const std::size_t length = array_length(of_node);
  const auto fits = support::check_memory(length * kArrays * sizeof(double) * static_cast<std::size_t>(of_node),
                                          "leave out --triad", node.size);
  if (!ranks::all_succeeded(ranks.ranks, fits)) return std::nullopt;
  std::vector<Stream> streams;
  for (int thread = 0; thread < threads; ++thread) streams.emplace_back(StreamKind::kTriad, length);
  const std::size_t bytes = length * kernels::bytes_per_iteration(StreamKind::kTriad);
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    MPI_Barrier(ranks.ranks);
    best = std::max(best, double(bytes) * threads / time_of(streams, bytes));
  }
  MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE, MPI_SUM, ranks.ranks);
  return best;
}

}  // namespace idlewave::spmv
