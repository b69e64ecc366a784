// iw-hybrid: a stencil on processes with threads. See `iw-hybrid --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include <algorithm>

#include "workloads/distributed/threads.h"
#include "workloads/hybrid/measure.h"
#include "workloads/hybrid/report.h"
#include "workloads/ranks/program.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::hybrid {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;
using wire::Error;
using wire::Status;

/// A thread that is reserved calls MPI beside others that do not; several of them all do.
Status check_modes(const Options& options) {
  if (std::ranges::count(options.modes, Mode::kMultiple) == 0) return wire::ok();
  return distributed::check_multiple("masteronly,funneled");
}

/// Before anything is allocated: both steps of this node's planes.
Status check_memory(const Options& options, const ranks::Group& world, const ranks::Group& node) {
  const auto [x, y, z] = options.box.size;
  const double planes = double(x) / world.size + 3, points = (double(y) + 2) * (double(z) + 2);
  const double bytes = std::min(2 * sizeof(double) * planes * points * node.size, 9e18);
  return support::check_memory(static_cast<std::size_t>(bytes), "give a smaller --size, or start it on more nodes",
                               node.size);
}

Status check_place(const Options& options, const ranks::Group& world, const ranks::Group& node) {
  const bool any_number = options.kernel == Kernel::kVirtual;
  return ranks::first_failure({distributed::check_funneled(options.threads), check_modes(options),
                               any_number ? wire::ok() : distributed::check_cores(options.threads),
                               distributed::check_openmp(options.threads), check_memory(options, world, node)});
}

Status check_results(const std::vector<Run>& runs) {
  constexpr double kMost = 1e-9;
  for (const Run& run : runs)
    if (!(largest_error(run) <= kMost))
      return Error{fmt::format("mode {}: points are off by {:.1e}, and what they must be is known",
                               name_of(run.way.mode), largest_error(run))};
  return wire::ok();
}

int run_hybrid(const Options& options, const ranks::Group& world) {
  const ranks::Group node = ranks::node_of(world.ranks);
  if (!ranks::all_succeeded(world.ranks, check_place(options, world, node))) return kBadInput;
  distributed::take_threads_as_asked();
  idlewave_start(world.rank, world.size);
  std::vector<Run> runs;
  std::int64_t step = 0;
  for (const Way& way : ways_of(options)) runs.push_back(measure(way, options, world, node, step));
  idlewave_stop();
  const Status right = world.rank == 0 ? check_results(runs) : wire::ok();
  if (world.rank == 0) fmt::print("{}", options.json ? json(options, runs) + "\n" : table(options, runs));
  return ranks::all_succeeded(world.ranks, right) ? kSuccess : kFailed;
}

}  // namespace
}  // namespace idlewave::hybrid

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv,
      [](int count, char** words, const ranks::Group& world) {
        return hybrid::parse_options(count, words, world.size);
      },
      [](const hybrid::Options& options, const ranks::Group& world) { return hybrid::run_hybrid(options, world); },
      MPI_THREAD_MULTIPLE);
}
