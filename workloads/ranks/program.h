#pragma once
// One of our MPI programs from MPI_Init to MPI_Finalize.

#include <fmt/format.h>
#include <mpi.h>

#include <variant>

#include "probe/wire/last_words.h"
#include "workloads/ranks/agreement.h"
#include "workloads/ranks/place.h"

namespace idlewave::ranks {

// Exit codes.
inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;

/// All ranks run if all can take the command line: a file that it names may be missing on one node alone.
template <class Parse, class Run>
int run_if_all_can(Parse parse, Run run) try {
  const Group world = group_of(MPI_COMM_WORLD);
  const auto parsed = parse(world);
  if (!all_succeeded(MPI_COMM_WORLD, parsed ? wire::ok() : wire::Status{parsed.error()})) {
    MPI_Barrier(MPI_COMM_WORLD);  // the line is out before the first rank that ends makes the launcher end the others
    return kBadInput;
  }
  if (parsed->index() == 0) return run(std::get<0>(*parsed), world);
  if (world.rank == 0) fmt::print("{}", std::get<1>(*parsed).text);
  return kSuccess;
} catch (...) {
  complain({wire::last_words()});
  MPI_Abort(MPI_COMM_WORLD, kBadInput);  // the others wait for this rank
  return kBadInput;
}

/// `parse(world)` reads the command line into a Result<variant<Options, Text>>, where a text, as for --help, is all that
/// was asked for. `run(options, world)` gives the exit code. `threads`: the level that is asked of MPI, which may have
/// less: MPI_Query_thread tells.
template <class Parse, class Run>
int program(int argc, char** argv, Parse parse, Run run, int threads = MPI_THREAD_SINGLE) {
  int provided = threads;
  MPI_Init_thread(&argc, &argv, threads, &provided);
  const int status = run_if_all_can([&](const Group& world) { return parse(argc, argv, world); }, run);
  MPI_Finalize();
  return status;
}

}  // namespace idlewave::ranks
