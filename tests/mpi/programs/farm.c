/* A farm: rank 0 gives tasks to whoever asks, by wildcards, probes and polling. A loop that does nothing but ask is one wait.
 * Usage: farm TASKS SEED */
#include "own_sums.h"

enum { ASK = 1, TASK = 2, STOP = 3 };

static void give(int tasks, int workers) {
  long long sum = 0;
  int given = 0;
  while (workers > 0) {
    MPI_Status status;
    long long result;
    int task = given;
    IN_MPI(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    IN_MPI(MPI_Recv(&result, 1, MPI_LONG_LONG, status.MPI_SOURCE, ASK, MPI_COMM_WORLD, &status));
    sum += result;
    if (given < tasks) {
      ++given;
      IN_MPI(MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD));
    } else {
      --workers;
      IN_MPI(MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, STOP, MPI_COMM_WORLD));
    }
  }
  printf("sum %lld of %d tasks\n", sum, tasks);
}

static void ask(void) {
  long long result = 0;
  for (;;) {
    int task, there = 0;
    MPI_Status status;
    MPI_Request request;
    IN_MPI(MPI_Isend(&result, 1, MPI_LONG_LONG, 0, ASK, MPI_COMM_WORLD, &request));
    IN_MPI(while (!there) {
      MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
      if (!there) rest(nap);
    });
    IN_MPI(MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    IN_MPI(for (there = 0; !there;) MPI_Test(&request, &there, MPI_STATUS_IGNORE));
    if (status.MPI_TAG == STOP) return;
    work();
    result = (long long)task * task;
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  own_sums_begin();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  dice_state = (unsigned)atoi(argv[2]) + 7919u * (unsigned)rank;
  if (rank == 0)
    give(atoi(argv[1]), size - 1);
  else
    ask();
  own_sums_end();
  MPI_Finalize();
  own_sums_write(rank);
  return 0;
}
