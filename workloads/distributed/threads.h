#pragma once
// OpenMP threads of a rank. For programs that are compiled with OpenMP.

#include <fmt/format.h>
#include <mpi.h>
#include <omp.h>

#include <string_view>

#include "probe/wire/result.h"
#include "workloads/ranks/place.h"

namespace idlewave::distributed {

/// Whether this MPI has given the level, or a higher one.
inline bool has_thread_level(int level) {
  int given = MPI_THREAD_SINGLE;
  MPI_Query_thread(&given);
  return given >= level;
}

/// Whether so many threads of a rank may be, of which one calls MPI at a time.
inline wire::Status check_funneled(int threads) {
  if (threads == 1 || has_thread_level(MPI_THREAD_FUNNELED)) return wire::ok();
  return wire::Error{"--threads: more than 1 need MPI_THREAD_FUNNELED, which this MPI does not have; give --threads 1"};
}

/// Whether several threads may call MPI at the same time, which mode multiple does. `others`: modes that do not.
inline wire::Status check_multiple(std::string_view others) {
  if (has_thread_level(MPI_THREAD_MULTIPLE)) return wire::ok();
  return wire::Error{fmt::format(
      "--modes: multiple needs MPI_THREAD_MULTIPLE, which this MPI does not have; --modes {} do not", others)};
}

using ranks::check_cores;  // of virtual work any number of threads fits on one

/// Whether OpenMP may have so many threads.
inline wire::Status check_openmp(int threads) {
  if (threads <= omp_get_thread_limit()) return wire::ok();
  return wire::Error{
      fmt::format("OMP_THREAD_LIMIT allows {} threads, and {} are needed; raise it, or give fewer --threads",
                  omp_get_thread_limit(), threads)};
}

/// As many threads as are asked for, whatever the environment says.
inline void take_threads_as_asked() {
  omp_set_dynamic(0);
  omp_set_max_active_levels(1);
}

/// work(number) on each of so many threads.
template <class Work>
void in_team(int threads, Work work) {
#pragma omp parallel num_threads(threads) if (threads > 1)
  work(omp_get_thread_num());
}

}  // namespace idlewave::distributed
