// iw-spmv: distributed products of a sparse matrix and a vector. See `iw-spmv --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include <algorithm>

#include "probe/wire/printable.h"
#include "workloads/distributed/seat.h"
#include "workloads/distributed/threads.h"
#include "workloads/ranks/meeting.h"
#include "workloads/ranks/program.h"
#include "workloads/spmv/measure.h"
#include "workloads/spmv/report.h"

namespace idlewave::spmv {
namespace {

using distributed::check_cores;
using distributed::check_openmp;
using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;
using wire::Error;
using wire::Status;

bool has_mode(const Options& options, Mode mode) { return std::ranges::count(options.modes, mode) > 0; }

Status check_modes(const Options& options) {
  if (has_mode(options, Mode::kMultiple)) return distributed::check_multiple("vector,overlap,task,reserved");
  if (!has_mode(options, Mode::kTask) || distributed::has_thread_level(MPI_THREAD_FUNNELED)) return wire::ok();
  return Error{"--modes: task needs MPI_THREAD_FUNNELED, which this MPI does not have; --modes vector,overlap do not"};
}

Status check_place(const Options& options) {
  const int openmp_threads = options.threads + (has_mode(options, Mode::kTask) ? 1 : 0);
  const bool any_number = options.kernel == Kernel::kVirtual;
  return ranks::first_failure({check_modes(options), distributed::check_funneled(options.threads),
                               any_number ? wire::ok() : check_cores(options.threads), check_openmp(openmp_threads)});
}

/// None for real work, which the agent finds by itself. Nothing after a failure, which has been reported. Collective.
std::optional<distributed::Seats> take_place(const Options& options, const ranks::Group& world,
                                             const ranks::Group& node) {
  if (options.kernel == Kernel::kReal) return distributed::Seats{};
  return distributed::take_seats({options.ranks_per_domain, options.core_bandwidth, options.domain_bandwidth},
                                 options.threads, world, node);
}

/// Whether all ranks, also those that had no part in it, come here with success. Collective.
bool all_have(bool success, MPI_Comm ranks) { return ranks::largest_asleep(success ? 0 : 1, ranks) == 0; }

/// The runs of a matrix on each number of processes, added to `all`. Whether there was no failure, which has been
/// reported. Collective.
bool measure_matrix(const Matrix& matrix, const Options& options, const ranks::Group& world,
                    const distributed::Seats& seats, int pattern, std::int64_t& step, std::vector<Run>& all) {
  for (const int processes : options.processes) {
    const bool takes_part = world.rank < processes;
    const ranks::Group part = ranks::part_of(world.ranks, takes_part ? 0 : 1);
    std::optional<std::vector<Run>> runs;
    if (takes_part)
      runs =
          measure({options, matrix, part, ranks::node_of(part.ranks), seats.empty() ? nullptr : &seats, pattern, step});
    if (!all_have(!takes_part || runs, world.ranks)) return false;
    if (runs) all.insert(all.end(), runs->begin(), runs->end());
    ++pattern;
  }
  return true;
}

/// The runs of all matrices. Nothing after a failure, which has been reported. Collective.
std::optional<std::vector<Run>> measure_all(const Options& options, const ranks::Group& world,
                                            const distributed::Seats& seats) {
  std::vector<Run> all;
  std::int64_t step = 0;
  int pattern = 0;
  for (const Matrix& matrix : options.matrices) {
    if (!measure_matrix(matrix, options, world, seats, pattern, step, all)) return std::nullopt;
    pattern += int(options.processes.size());
  }
  return all;
}

/// By more than rounding could be.
Status check_results(const std::vector<Run>& runs) {
  constexpr double kMost = 1e-9;
  for (const Run& run : runs) {
    if (wrong_in(run) > 0)
      return Error{fmt::format("{}, mode {} on {} processes: {} elements are not what a serial product has",
                               wire::printable(run.matrix), name_of(run.way.mode), run.ranks.size(), wrong_in(run))};
    if (run.symmetry_error && !(*run.symmetry_error <= kMost))
      return Error{fmt::format("{}, mode {} on {} processes: x1 A x0 and x0 A x1 differ by {:.1e}, and A is symmetric",
                               wire::printable(run.matrix), name_of(run.way.mode), run.ranks.size(),
                               *run.symmetry_error)};
  }
  return wire::ok();
}

int run_spmv(const Options& options, const ranks::Group& world) {
  if (!ranks::all_succeeded(world.ranks, check_place(options))) return kBadInput;
  distributed::take_threads_as_asked();
  const ranks::Group node = ranks::node_of(world.ranks);
  idlewave_start(world.rank, world.size);
  const auto seats = take_place(options, world, node);
  if (!seats) return kFailed;
  const auto runs = measure_all(options, world, *seats);
  idlewave_stop();
  if (!runs) return kBadInput;
  const Status right = world.rank == 0 ? check_results(*runs) : wire::ok();
  if (world.rank == 0) fmt::print("{}", options.json ? json(options, *runs) + "\n" : tables(options, *runs));
  return ranks::all_succeeded(world.ranks, right) ? kSuccess : kFailed;
}

}  // namespace
}  // namespace idlewave::spmv

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv,
      [](int count, char** words, const ranks::Group& world) { return spmv::parse_options(count, words, world.size); },
      [](const spmv::Options& options, const ranks::Group& world) { return spmv::run_spmv(options, world); },
      MPI_THREAD_MULTIPLE);
}
