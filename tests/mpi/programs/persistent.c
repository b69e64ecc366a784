/* Sends by requests that are made once and started often, to the next rank of a communicator that has those of the world backwards.
 * Usage: persistent TIMES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void start_all(MPI_Comm comm, int times) {
  int three[3] = {1, 2, 3}, got[3], i;
  double two[2] = {1, 2}, other[2];
  MPI_Datatype pair;
  MPI_Request requests[5];
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  MPI_Send_init(three, 3, MPI_INT, (rank + 1) % size, 0, comm, &requests[0]);
  MPI_Ssend_init(two, 1, pair, (rank + 1) % size, 1, comm, &requests[1]);
  MPI_Send_init(three, 3, MPI_INT, MPI_PROC_NULL, 2, comm, &requests[2]);
  MPI_Recv_init(got, 3, MPI_INT, (rank + size - 1) % size, 0, comm, &requests[3]);
  MPI_Recv_init(other, 1, pair, MPI_ANY_SOURCE, 1, comm, &requests[4]);
  MPI_Type_free(&pair); /* what was made with it still has it */
  for (i = 0; i < times; ++i) {
    MPI_Startall(5, requests);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  }
  for (i = 0; i < 5; ++i) MPI_Request_free(&requests[i]);
}

static void start_each(MPI_Comm comm, int times) {
  char out[7] = "abcdef", in[7];
  MPI_Request send, receive;
  int i;
  MPI_Bsend_init(out, 7, MPI_CHAR, (rank + 1) % size, 3, comm, &send);
  MPI_Recv_init(in, 7, MPI_CHAR, (rank + size - 1) % size, 3, comm, &receive);
  for (i = 0; i < times; ++i) {
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

/* Four parts of two numbers each. */
static void start_partitioned(MPI_Comm comm, int times) {
#if MPI_VERSION >= 4
  int out[8] = {0}, in[8], i, part;
  MPI_Request requests[2];
  MPI_Psend_init(out, 4, 2, MPI_INT, (rank + 1) % size, 4, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(in, 4, 2, MPI_INT, (rank + size - 1) % size, 4, comm, MPI_INFO_NULL, &requests[1]);
  for (i = 0; i < times; ++i) {
    MPI_Startall(2, requests);
    for (part = 0; part < 4; ++part) MPI_Pready(part, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
#else
  (void)comm, (void)times;
#endif
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 10;
  static char room[1 << 16];
  MPI_Comm backwards;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  MPI_Comm_rank(backwards, &rank);
  MPI_Comm_size(backwards, &size);
  MPI_Buffer_attach(room, sizeof room);
  start_all(backwards, times);
  start_each(backwards, times);
  start_partitioned(backwards, times);
  MPI_Comm_free(&backwards);
  if (rank == 0) printf("%d bytes to each\n", times * (12 + 16 + 7 + (MPI_VERSION >= 4 ? 32 : 0)));
  MPI_Finalize();
  return 0;
}
