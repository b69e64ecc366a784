// iw-spmv: distributed products of a sparse matrix and a vector. See `iw-spmv --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "workloads/ranks/domain.h"
#include "workloads/ranks/program.h"
#include "workloads/ranks/sharing.h"
#include "workloads/spmv/measure.h"
#include "workloads/spmv/report.h"
#include "workloads/support/pause.h"

namespace idlewave::spmv {
namespace {

using kernels::VirtualSocket;
using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;
using wire::Error;
using wire::Status;

bool has_task_mode(const Options& options) { return std::ranges::count(options.modes, Mode::kTask) > 0; }

Status check_thread_level(const Options& options) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_FUNNELED) return wire::ok();
  if (has_task_mode(options))
    return Error{
        "--modes: task needs MPI_THREAD_FUNNELED, which this MPI does not have; --modes vector,overlap do not"};
  if (options.threads > 1)
    return Error{"--threads: more than 1 need MPI_THREAD_FUNNELED, which this MPI does not have; give --threads 1"};
  return wire::ok();
}

Status check_cores(const Options& options) {
  cpu_set_t allowed;
  if (options.kernel == Kernel::kVirtual || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return wire::ok();
  const int cores = CPU_COUNT(&allowed);
  if (options.threads <= cores) return wire::ok();
  return Error{
      fmt::format("--threads: {} are asked for, and this process may use {} core{}; give at most so many, or bind "
                  "it to more (Open MPI: mpirun --bind-to none)",
                  options.threads, cores, cores == 1 ? "" : "s")};
}

Status check_openmp(const Options& options) {
  const int wanted = options.threads + (has_task_mode(options) ? 1 : 0);
  if (wanted <= omp_get_thread_limit()) return wire::ok();
  return Error{fmt::format("OMP_THREAD_LIMIT allows {} threads, and {} are needed; raise it, or give fewer --threads",
                           omp_get_thread_limit(), wanted)};
}

Status check_place(const Options& options) {
  for (const Status& each : {check_thread_level(options), check_cores(options), check_openmp(options)})
    if (!each) return each;
  return wire::ok();
}

bool sleeps(const Options& options, const ranks::Group& node) {
  if (options.waiting != Waiting::kAuto) return options.waiting == Waiting::kAsleep;
  const int threads = options.threads + (has_task_mode(options) ? 1 : 0);
  return options.kernel == Kernel::kVirtual || node.size * threads > int(std::thread::hardware_concurrency());
}

/// Null for real work, which the agent finds by itself. Nothing after a failure, which has been reported. Collective.
std::optional<std::shared_ptr<VirtualSocket>> take_seat(const Options& options, const ranks::Group& world,
                                                        const ranks::Group& node) {
  if (options.kernel == Kernel::kReal) return nullptr;
  const ranks::Domain domain = ranks::virtual_domain(world.ranks, node, options.ranks_per_domain);
  const auto curve = kernels::BandwidthCurve::saturating(options.core_bandwidth, options.domain_bandwidth);
  auto shared = ranks::share<VirtualSocket>(domain.group, domain.group.size, curve);
  if (!ranks::all_succeeded(world.ranks, shared ? wire::ok() : Status{shared.error()})) return std::nullopt;
  auto socket = std::make_shared<VirtualSocket>(std::move(*shared));
  socket->take_seat(domain.group.rank);
  idlewave_set_domain(domain.id, 1, options.core_bandwidth, options.domain_bandwidth);
  return socket;
}

/// Whether all ranks, also those that had no part in it, come here with success. Those that wait leave their cores to
/// those that measure. Collective.
bool all_have(bool success, MPI_Comm ranks) {
  int all = success ? 1 : 0, done = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, ranks, &request);
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    support::sleep_until(support::monotonic_now() + std::chrono::milliseconds{1});
  return all != 0;
}

/// The runs of each number of processes. Nothing after a failure, which has been reported. Collective.
std::optional<std::vector<Run>> measure_all(const Options& options, const ranks::Group& world, const Manner& manner) {
  std::vector<Run> all;
  std::int64_t step = 0;
  for (std::size_t i = 0; i < options.processes.size(); ++i) {
    const bool takes_part = world.rank < options.processes[i];
    const ranks::Group part = ranks::part_of(world.ranks, takes_part ? 0 : 1);
    std::optional<std::vector<Run>> runs;
    if (takes_part) runs = measure({options, part, ranks::node_of(part.ranks), manner, int(i), step});
    if (!all_have(!takes_part || runs, world.ranks)) return std::nullopt;
    if (runs) all.insert(all.end(), runs->begin(), runs->end());
  }
  return all;
}

/// By more than rounding could be.
Status check_results(const std::vector<Run>& runs) {
  constexpr double kMost = 1e-9;
  for (const Run& run : runs) {
    if (wrong_in(run) > 0)
      return Error{fmt::format("mode {} on {} processes: {} elements are not what a serial product has",
                               name_of(run.mode), run.ranks.size(), wrong_in(run))};
    if (run.symmetry_error && !(*run.symmetry_error <= kMost))
      return Error{fmt::format("mode {} on {} processes: x1 A x0 and x0 A x1 differ by {:.1e}, and A is symmetric",
                               name_of(run.mode), run.ranks.size(), *run.symmetry_error)};
  }
  return wire::ok();
}

int run_spmv(const Options& options, const ranks::Group& world) {
  if (!ranks::all_succeeded(world.ranks, check_place(options))) return kBadInput;
  omp_set_dynamic(0);
  const ranks::Group node = ranks::node_of(world.ranks);
  idlewave_start(world.rank, world.size);
  const auto socket = take_seat(options, world, node);
  if (!socket) return kFailed;
  const auto runs = measure_all(options, world, {options.threads, sleeps(options, node), socket->get()});
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
      MPI_THREAD_FUNNELED);
}
