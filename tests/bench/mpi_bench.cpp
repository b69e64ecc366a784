// What the library that is loaded ahead of MPI adds to a call, without and with a session. The calls are those of the
// program, and beside them, as their floor in the same run, the same functions under their names for tools (PMPI_), to
// which no wrapper leads. This process is its own rank and its own agent. Of many short batches, taken in turns, the
// fastest: on a shared machine everything else is somebody else's time. --session: in a ring so small that all is told
// one by one, as of programs that call less than 50,000 times a second; --sums: as of this one.
// Usage: iw-bench-mpi [--session | --sums]

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>

#include "probe/shm/clock.h"
#include "tests/bench/played_node.h"

namespace {

namespace shm = idlewave::shm;
using idlewave::bench::PlayedNode;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 3000;
constexpr int kBatch = 240;  // Six events for a message to oneself with its wait,
constexpr int kSmallRing = 2048;

PlayedNode node;

/// The best batch, in ns a call. Eight stand one after the other, as in a program whose steps have eight places: from
/// one place alone each call would begin a step.
class Best {
 public:
  template <class Call>
  [[gnu::noinline]] void time(Call call) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kBatch / 8; ++i) call(), call(), call(), call(), call(), call(), call(), call();
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    ns_ = std::min(ns_, took.count() / kBatch);
  }
  double ns() const { return ns_; }

 private:
  double ns_ = std::numeric_limits<double>::infinity();
};

void two_stamps() {
  volatile std::uint64_t begin = shm::read_counter();
  volatile std::uint64_t end = shm::read_counter();
  (void)begin;
  (void)end;
}

struct Calls {
  decltype(&MPI_Irecv) receive;
  decltype(&MPI_Isend) send;
  decltype(&MPI_Waitall) wait;
};

[[gnu::always_inline]] inline void message_to_oneself(const Calls& calls) {
  static int out = 1, in = 0;
  MPI_Request requests[2];
  calls.receive(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
  calls.send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]);
  calls.wait(2, requests, MPI_STATUSES_IGNORE);
}

bool measure(const char* state, bool with_session) {
  constexpr Calls kWrapped = {MPI_Irecv, MPI_Isend, MPI_Waitall}, kBare = {PMPI_Irecv, PMPI_Isend, PMPI_Waitall};
  Best stamps, wrapped, bare, wrapped_message, bare_message;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request none = MPI_REQUEST_NULL;
    stamps.time(two_stamps);
    wrapped.time([&]() __attribute__((always_inline)) { MPI_Wait(&none, MPI_STATUS_IGNORE); });
    bare.time([&]() __attribute__((always_inline)) { PMPI_Wait(&none, MPI_STATUS_IGNORE); });
    if (with_session) node.drain();
    wrapped_message.time([&]() __attribute__((always_inline)) { message_to_oneself(kWrapped); });
    bare_message.time([&]() __attribute__((always_inline)) { message_to_oneself(kBare); });
    if (with_session) node.drain();
  }
  const double added = wrapped.ns() - bare.ns();
  std::printf(
      "{\"mpi_%s_bare_ns\": %.2f, \"mpi_%s_added_ns\": %.2f, \"mpi_%s_message_bare_ns\": %.1f, "
      "\"mpi_%s_message_added_ns\": %.1f",
      state, bare.ns(), state, added, state, bare_message.ns(), state, wrapped_message.ns() - bare_message.ns());
  if (with_session)
    std::printf(", \"mpi_rdtsc_pair_ns\": %.2f, \"mpi_%s_added_over_rdtsc_pair\": %.3f", stamps.ns(), state,
                added / stamps.ns());
  std::printf("}\n");
  return !with_session || !node.has_lost();
}

/// Into ourselves, as `run` has it loaded into ranks.
[[noreturn]] void load_library(char** argv) {
  setenv("LD_PRELOAD", IDLEWAVE_MPI_LIBRARY, 1);
  execv("/proc/self/exe", argv);
  std::perror("iw-bench-mpi");
  _exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (getenv("LD_PRELOAD") == nullptr) load_library(argv);
  const char* const state = argc > 1 ? argv[1] + std::strspn(argv[1], "-") : "off";
  const bool has_sums = std::strcmp(state, "sums") == 0, with_session = argc > 1;
  unsetenv("IDLEWAVE_SESSION");
  if (with_session && !node.open(has_sums ? shm::kDefaultRingEvents : kSmallRing)) return 1;
  MPI_Init(&argc, &argv);
  const bool measured = measure(state, with_session);
  MPI_Finalize();
  return measured ? 0 : 1;
}
