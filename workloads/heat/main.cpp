// iw-heat: heat in a plate by messages, or in a memory that processes share. See `iw-heat --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include <algorithm>

#include "workloads/distributed/threads.h"
#include "workloads/heat/measure.h"
#include "workloads/ranks/program.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::heat {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;
using wire::Error;
using wire::Status;

/// Before anything is allocated: both fields, of which each process of this node has all where they are shared.
Status check_memory(const Options& options, const ranks::Group& world, const ranks::Group& node) {
  const bool shares = std::ranges::count(options.memories, Memory::kPages) > 0;
  double most = 0;
  for (const Square& square : options.squares) {
    const double width = double(square.width()), rows = shares ? width : width / world.size + 3;
    most = std::max(most, 2 * sizeof(double) * width * rows * node.size);
  }
  const char* advice = shares && options.memories.size() > 1
                           ? "give smaller --sizes, or --memory messages, which needs less"
                           : "give smaller --sizes, or start it on more nodes";
  return support::check_memory(std::size_t(most), advice, node.size);
}

Status check_place(const Options& options, const ranks::Group& world, const ranks::Group& node) {
  return ranks::first_failure({distributed::check_funneled(options.threads), distributed::check_cores(options.threads),
                               distributed::check_openmp(options.threads), check_memory(options, world, node)});
}

Status check_results(const std::vector<Run>& runs) {
  constexpr double kMost = 1e-10;
  for (const Run& run : runs)
    if (!(run.error <= kMost))
      return Error{fmt::format("{0} x {0} points by {1}: they are off by {2:.1e}, and what they must be is known",
                               run.square.points, name_of(run.memory), run.error)};
  return wire::ok();
}

int run_heat(const Options& options, const ranks::Group& world) {
  const ranks::Group node = ranks::node_of(world.ranks);
  if (!ranks::all_succeeded(world.ranks, check_place(options, world, node))) return kBadInput;
  distributed::take_threads_as_asked();
  idlewave_start(world.rank, world.size);
  std::vector<Run> runs;
  std::int64_t step = 0;
  for (const Square& square : options.squares)
    for (const Memory memory : options.memories) runs.push_back(measure(square, memory, options, world, node, step));
  idlewave_stop();
  if (world.rank == 0)
    fmt::print("{}", options.json ? json(options, world.size, runs) + "\n" : table(options, world.size, runs));
  return ranks::all_succeeded(world.ranks, check_results(runs)) ? kSuccess : kFailed;
}

}  // namespace
}  // namespace idlewave::heat

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv,
      [](int count, char** words, const ranks::Group& world) { return heat::parse_options(count, words, world.size); },
      [](const heat::Options& options, const ranks::Group& world) { return heat::run_heat(options, world); },
      MPI_THREAD_FUNNELED);
}
