/* What keeps an MPI library busy. Usage: poll MODE TIMES SEED. Prints a checksum, and how often it called MPI.
 *   test     a ring; each rank works, and asks by MPI_Testall again and again whether its messages are there
 *   probe    the same by MPI_Iprobe
 *   oneself  each rank sends to itself, without a pause */
#include <string.h>

#include "own_sums.h"

static long long calls;
#define CALL(call) (++calls, call)

static long long exchange(int by_probe, long long out, int left, int right) {
  long long in = 0;
  int there = 0;
  MPI_Request requests[2];
  MPI_Status status;
  CALL(MPI_Isend(&out, 1, MPI_LONG_LONG, right, 0, MPI_COMM_WORLD, &requests[0]));
  if (by_probe) {
    while (!there) CALL(MPI_Iprobe(left, 0, MPI_COMM_WORLD, &there, &status));
    CALL(MPI_Recv(&in, 1, MPI_LONG_LONG, left, 0, MPI_COMM_WORLD, &status));
    CALL(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    return in;
  }
  CALL(MPI_Irecv(&in, 1, MPI_LONG_LONG, left, 0, MPI_COMM_WORLD, &requests[1]));
  while (!there) CALL(MPI_Testall(2, requests, &there, MPI_STATUSES_IGNORE));
  return in;
}

static long long send_to_oneself(long long out, int rank) {
  long long in = 0;
  MPI_Request request;
  CALL(MPI_Irecv(&in, 1, MPI_LONG_LONG, rank, 0, MPI_COMM_WORLD, &request));
  CALL(MPI_Send(&out, 1, MPI_LONG_LONG, rank, 0, MPI_COMM_WORLD));
  CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
  return in;
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  const int times = atoi(argv[2]);
  long long value, sum = 0, all[2] = {0, 0}, own[2];
  int rank, size, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  dice_state = (unsigned)atoi(argv[3]) + 7919u * (unsigned)rank;
  value = rank + 1;
  for (i = 0; i < times; ++i) {
    if (strcmp(mode, "oneself") == 0) {
      value = send_to_oneself(value + i, rank) % 1000003;
    } else {
      work();
      value = exchange(strcmp(mode, "probe") == 0, value + i, (rank + size - 1) % size, (rank + 1) % size) % 1000003;
    }
    sum += value;
  }
  ++calls; /* the one below */
  own[0] = sum, own[1] = calls;
  MPI_Reduce(own, all, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s, sum %lld\n", mode, all[0]);
    if (getenv("OWN_SUMS") != NULL) {
      char path[4096];
      FILE* file;
      snprintf(path, sizeof path, "%s/calls", getenv("OWN_SUMS"));
      file = fopen(path, "w");
      if (file == NULL) exit(1);
      fprintf(file, "%lld\n", all[1]);
      fclose(file);
    }
  }
  MPI_Finalize();
  return 0;
}
