/* What programs do besides. Usage: odd MODE STEPS SEED; steps end with a barrier.
 *   leap      an error handler leaves the library by longjmp
 *   threads   another thread calls MPI as well
 *   control   MPI_Pcontrol says where steps begin; in each there are several barriers
 *   told      MPI_Pcontrol hands numbers on to a tool, before steps and behind them
 *   abort     the last rank calls MPI_Abort with 5 after its steps
 *   unended   nobody calls MPI_Finalize */
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include "own_sums.h"

static jmp_buf before;
static MPI_Comm others;

static void leap(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  longjmp(before, 1);
}

static void fail_and_leap(void) {
  MPI_Errhandler handler;
  int nothing = 0;
  MPI_Comm_create_errhandler(leap, &handler);
  MPI_Comm_set_errhandler(others, handler);
  if (setjmp(before) == 0) MPI_Send(&nothing, 1, MPI_INT, 1000000, 0, others);
}

/* From a frame that is deeper than that of the call which was left. */
#define DEEPER(name, call)                           \
  __attribute__((noinline)) static void name(void) { \
    volatile char room[512];                         \
    room[0] = room[511] = 0;                         \
    call;                                            \
    room[1] = room[0];                               \
  }
DEEPER(come_back, MPI_Barrier(MPI_COMM_WORLD))
DEEPER(wait_for_all, MPI_Barrier(MPI_COMM_WORLD))

static void* call_there(void* unused) {
  MPI_Barrier(others);
  return unused;
}

static void call_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, call_there, NULL);
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  const int steps = atoi(argv[2]);
  int provided, rank, size, step, i;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  own_sums_begin();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  IN_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &others));
  dice_state = (unsigned)atoi(argv[3]) + 7919u * (unsigned)rank;
  if (strcmp(mode, "leap") == 0) {
    fail_and_leap();
    IN_MPI(come_back()); /* until here nobody can know that the failed call is over */
  }
  if (strcmp(mode, "threads") == 0) call_in_thread();
  if (strcmp(mode, "told") == 0) MPI_Pcontrol(7, 0.5, 3, 0.25);
  for (step = 0; step < steps; ++step) {
    if (strcmp(mode, "control") == 0) MPI_Pcontrol(1);
    for (i = 0; i < (strcmp(mode, "control") == 0 ? 1 + step % 3 : 1); ++i) {
      work();
      IN_MPI(strcmp(mode, "leap") == 0 ? wait_for_all() : (void)MPI_Barrier(MPI_COMM_WORLD));
    }
  }
  if (strcmp(mode, "told") == 0) MPI_Pcontrol(7, 2.5, 4, 1e300);
  own_sums_end();
  if (rank == 0) printf("%s, %d steps\n", mode, steps);
  fflush(stdout);
  if (strcmp(mode, "abort") == 0 && rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(mode, "abort") == 0) MPI_Barrier(MPI_COMM_WORLD);
  own_sums_write(rank);
  if (strcmp(mode, "unended") != 0) MPI_Finalize();
  return 0;
}
