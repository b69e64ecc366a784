// iw-chebfd: the polynomial filter of Chebyshev filter diagonalization on many ranks. See `iw-chebfd --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include "workloads/chebfd/measure.h"
#include "workloads/chebfd/report.h"
#include "workloads/distributed/seat.h"
#include "workloads/distributed/threads.h"
#include "workloads/ranks/program.h"

namespace idlewave::chebfd {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;
using wire::Error;
using wire::Status;

Status check_threads(const Options& options) {
  if (options.threads == 1) return wire::ok();
  return ranks::first_failure({distributed::check_funneled(options.threads), distributed::check_cores(options.threads),
                               distributed::check_openmp(options.threads)});
}

/// Null for real work. Nothing after a failure, which has been reported. Collective.
std::optional<std::shared_ptr<kernels::VirtualSocket>> take_place(const Options& options, const ranks::Group& world,
                                                                  const ranks::Group& node) {
  if (options.kernel == Kernel::kReal) return nullptr;
  return distributed::take_seat({options.ranks_per_domain, core_bandwidth_of(options), options.domain_bandwidth}, world,
                                node);
}

/// Rounding grows with the degree.
Status check_results(const Options& options, const Errors& errors) {
  const double most = 1e-12 * options.degree;
  const auto off = [&](const std::optional<double>& error) { return error && !(*error <= most); };
  if (off(errors.wave)) return Error{fmt::format("plane waves are off by {:.1e}, and f(E) is known", *errors.wave)};
  if (off(errors.moment))
    return Error{fmt::format("scalar products of plane waves are off by {:.1e}, and T_p(E) is known", *errors.moment)};
  if (off(errors.symmetry))
    return Error{fmt::format("<f(H) x, y> and <x, f(H) y> differ by {:.1e}, and H is hermitian", *errors.symmetry)};
  return wire::ok();
}

int run_chebfd(const Options& options, const ranks::Group& world) {
  if (!ranks::all_succeeded(world.ranks, check_threads(options))) return kBadInput;
  distributed::take_threads_as_asked();
  const ranks::Group node = ranks::node_of(world.ranks);
  idlewave_start(world.rank, world.size);
  const auto socket = take_place(options, world, node);
  if (!socket) return kFailed;
  const auto run = measure({options, world, node, socket->get()});
  idlewave_stop();
  if (!run) return kBadInput;
  const Status right = world.rank == 0 ? check_results(options, run->errors) : wire::ok();
  if (world.rank == 0) fmt::print("{}", options.json ? json(options, *run) + "\n" : tables(options, *run));
  return ranks::all_succeeded(world.ranks, right) ? kSuccess : kFailed;
}

}  // namespace
}  // namespace idlewave::chebfd

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv,
      [](int count, char** words, const ranks::Group& world) {
        return chebfd::parse_options(count, words, world.size);
      },
      [](const chebfd::Options& options, const ranks::Group& world) { return chebfd::run_chebfd(options, world); },
      MPI_THREAD_FUNNELED);
}
