// idlewave-sim-openmpi, idlewave-sim-mpich: what `idlewave sim` becomes under an MPI launcher. Rank 0 speaks for all.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string_view>
#include <thread>

#include "probe/signals/interrupted.h"
#include "probe/wire/last_words.h"
#include "workloads/sim/sweep/console.h"
#include "workloads/sim/sweep/cores.h"
#include "workloads/sim/sweep/launcher.h"
#include "workloads/sim/sweep/mpi_sweep.h"

namespace idlewave::sim::sweep {
namespace {

constexpr int kGoOn = -1;
constexpr std::chrono::milliseconds kTimeToSpeak{200};

int from_rank_0(int value) {
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return value;
}

bool is_sweep(std::span<char* const> words) {
  return std::ranges::any_of(words, [](const std::string_view word) {
    return word.starts_with("--sweep") || word == "--study" || word == "--help" || word == "-h" || word == "--version";
  });
}

/// kGoOn, or the exit code.
int check(const Parsed& parsed, bool sweeps, int ranks) {
  if (!sweeps)
    return complain(
        fmt::format("{} ranks were started, and all would do the same: ranks share out the runs of a --sweep; "
                    "start a single run without a launcher",
                    ranks),
        kBadInput);
  if (parsed.options) return kGoOn;
  if (!parsed.complaint.empty()) return complain(parsed.complaint, kBadInput);
  tell(parsed.text);
  return kSuccess;
}

int threads_of_this_rank(const Options& options) {
  if (options.threads) return *options.threads;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks = 0, rank = 0;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_rank(node, &rank);
  std::vector<cpu_set_t> usable(static_cast<std::size_t>(ranks));
  const cpu_set_t own = usable_cores();
  MPI_Allgather(&own, sizeof own, MPI_BYTE, usable.data(), sizeof own, MPI_BYTE, node);
  MPI_Comm_free(&node);
  return share_cores(usable)[static_cast<std::size_t>(rank)];
}

int report(const Outcome& outcome) {
  if (!outcome.complaint.empty()) return complain(outcome.complaint, outcome.exit_code);
  tell(outcome.text);
  return outcome.exit_code;
}

int sweep_together(const Options& options, int rank) {
  const int threads = threads_of_this_rank(options);
  int threads_of_all = 0;
  MPI_Allreduce(&threads, &threads_of_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank != 0) {
    help(MPI_COMM_WORLD, options, threads);
    return kFailed;
  }
  Dealer dealer(MPI_COMM_WORLD, options, threads, threads_of_all);
  (void)signals::interrupted();  // from now on Ctrl-C ends what is under way
  const int code = report(run_sweep(options, [&](std::size_t count) { return dealer.run(count); }));
  if (!signals::interrupted()) return code;
  // The others have been interrupted too, or are ended by the launcher: nobody is left to say good-bye to.
  std::fflush(nullptr);
  _exit(code);
}

int run_together(int argc, char** argv, int rank, int ranks) {
  Parsed parsed;
  int code = kGoOn;
  if (rank == 0) {
    parsed = parse(argc, argv);
    code = check(parsed, is_sweep({argv, std::size_t(argc)}), ranks);
    std::fflush(nullptr);
  }
  if ((code = from_rank_0(code)) != kGoOn) return code;
  if (rank != 0) parsed = parse(argc, argv);
  if (!parsed.options) MPI_Abort(MPI_COMM_WORLD, kBadInput);
  code = sweep_together(*parsed.options, rank);
  if (signals::interrupted()) {
    std::this_thread::sleep_for(kTimeToSpeak);  // for rank 0 to say so
    _exit(kFailed);
  }
  return from_rank_0(code);
}

/// Of another MPI than the launcher, ranks don't find each other: each is alone and would print everything.
int complain_of_solitude(const Launch& launch) {
  return complain_for_all(launch, fmt::format("{} ranks were started, but they don't find each other: the launcher and "
                                              "the MPI that idlewave was built with ({}) are of different kinds "
                                              "(srun: try --mpi=pmix or --mpi=pmi2)",
                                              launch.ranks, IDLEWAVE_MPI));
}

int run_program(int argc, char** argv) try {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Launch launch = launch_of_environment();
  if (launch.ranks != ranks) return complain_of_solitude(launch);
  return run_together(argc, argv, rank, ranks);
} catch (...) {
  complain(wire::last_words(), kBadInput);
  MPI_Abort(MPI_COMM_WORLD, kBadInput);  // the others wait for this rank
  return kBadInput;
}

}  // namespace
}  // namespace idlewave::sim::sweep

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = idlewave::sim::sweep::run_program(argc, argv);
  std::fflush(nullptr);
  MPI_Barrier(MPI_COMM_WORLD);  // all is said before the first rank that ends makes the launcher end the others
  MPI_Finalize();
  return code;
}
