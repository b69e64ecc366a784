/* Calls whose bytes and receivers are told by handles and roots: communicators with other ranks than the world's, datatypes whose
 * handles come again, sentinels, roots, groups of two sides, calls that fail. tests/mpi/any_program_test.py knows what it sends.
 * Usage: sums TIMES, with four ranks */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 4 };

static int rank;

/* The world the other way round: rank r there is rank 3 - r. */
static void send_within_another_communicator(int times) {
  MPI_Comm turned;
  int mine, i, out[2] = {rank, rank}, in[2];
  MPI_Comm_split(MPI_COMM_WORLD, 0, RANKS - rank, &turned);
  MPI_Comm_rank(turned, &mine);
  for (i = 0; i < times; ++i)
    MPI_Sendrecv(out, 2, MPI_INT, (mine + 1) % RANKS, 0, in, 2, MPI_INT, (mine + RANKS - 1) % RANKS, 0, turned,
                 MPI_STATUS_IGNORE);
  MPI_Comm_free(&turned);
}

/* Halves of the world: rank 0 is 0 or 2 there, and the handle may be the one that was freed before. */
static void send_within_halves(int times) {
  MPI_Comm half;
  char out[3] = {0}, in[3];
  int i, other;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  other = 1 - rank % 2;
  for (i = 0; i < times; ++i)
    MPI_Sendrecv(out, 3, MPI_CHAR, other, 0, in, 3, MPI_CHAR, other, 0, half, MPI_STATUS_IGNORE);
  MPI_Comm_free(&half);
}

/* Types that are made and freed each time, so that handles come again for another size; some with holes. */
static void send_types(int times) {
  double out[64] = {0}, in[64];
  int i;
  for (i = 1; i <= times; ++i) {
    MPI_Datatype type;
    MPI_Request request;
    MPI_Type_vector(i % 7 + 1, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(in, 1, type, (rank + 2) % RANKS, 0, MPI_COMM_WORLD, &request);
    MPI_Ssend(out, 1, type, (rank + 2) % RANKS, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
  }
}

static void send_to_nobody(int times) {
  int i;
  for (i = 0; i < times; ++i) MPI_Rsend(&i, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

/* What does not count on this rank is no argument that anybody may look at. */
static void have_roots(int times) {
  int all[2 * RANKS] = {0}, one[2] = {0}, counts[RANKS] = {1, 2, 0, 1}, places[RANKS] = {0, 1, 3, 3}, i;
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  for (i = 0; i < times; ++i) {
    if (rank == 1) {
      MPI_Gather(MPI_IN_PLACE, -1, none, all, 2, MPI_INT, 1, MPI_COMM_WORLD);
      MPI_Scatter(all, 2, MPI_INT, MPI_IN_PLACE, -1, none, 1, MPI_COMM_WORLD);
      MPI_Gatherv(MPI_IN_PLACE, -1, none, all, counts, places, MPI_INT, 1, MPI_COMM_WORLD);
      MPI_Scatterv(all, counts, places, MPI_INT, MPI_IN_PLACE, -1, none, 1, MPI_COMM_WORLD);
    } else {
      MPI_Gather(one, 2, MPI_INT, NULL, -1, none, 1, MPI_COMM_WORLD);
      MPI_Scatter(NULL, -1, none, one, 2, MPI_INT, 1, MPI_COMM_WORLD);
      MPI_Gatherv(one, counts[rank], MPI_INT, NULL, NULL, NULL, none, 1, MPI_COMM_WORLD);
      MPI_Scatterv(NULL, NULL, NULL, none, one, counts[rank], MPI_INT, 1, MPI_COMM_WORLD);
    }
    MPI_Allgather(MPI_IN_PLACE, -1, none, all, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, -1, none, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, -1, none, all, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, none, all, (int[]){1, 1, 1, 1}, (int[]){0, 1, 2, 3}, MPI_INT,
                  MPI_COMM_WORLD);
    MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Ranks 0 and 1 on one side, 2 and 3 on the other: rank r sends to the one opposite. */
static void send_between_groups(int times) {
  MPI_Comm half, both;
  long long out = 0, in;
  int i;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0, &both);
  for (i = 0; i < times; ++i) {
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_LONG_LONG, rank % 2, 0, both, &request);
    MPI_Bsend(&out, 1, MPI_LONG_LONG, rank % 2, 0, both);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void fail(int times) {
  int i, failed = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (i = 0; i < times; ++i) failed += MPI_Send(&i, 1, MPI_INT, RANKS, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
  for (i = 0; i < times; ++i) failed += MPI_Send(&i, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
  if (rank == 0) printf("%d calls failed\n", failed);
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 10;
  static char room[1 << 16];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Buffer_attach(room, sizeof room);
  send_within_another_communicator(times);
  send_within_halves(times);
  send_types(times);
  send_to_nobody(times);
  have_roots(times);
  send_between_groups(times);
  fail(times);
  MPI_Finalize();
  return 0;
}
