/* What can't be known, or not with certainty. Nothing is to be said of it. */
#include "partners.h"

static void anybody_ignored(void) {
  MPI_Request request;
  int i;
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Irecv(in[0], FEW, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, FEW, MPI_CHAR, right, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void cancelled(void) {
  MPI_Request request;
  int i;
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Irecv(in[1], FEW, MPI_CHAR, right, 7, MPI_COMM_WORLD, &request);
    exchange(MPI_COMM_WORLD, &left, &right, 1, FEW);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void two_sides(void) {
  MPI_Comm half, between;
  const int mine = rank < size / 2;
  int i, there;
  MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, mine ? size / 2 : 0, 0, &between);
  MPI_Comm_rank(half, &there);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Sendrecv(out, FEW, MPI_CHAR, there, 0, in[0], FEW, MPI_CHAR, there, 0, between, MPI_STATUS_IGNORE);
    MPI_Barrier(between);
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* As many as wait for their receivers, of ranks that send them nothing. */
static void neighbours_one_way(void) {
  MPI_Comm ring;
  int i;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Neighbor_alltoall(out, SOME, MPI_CHAR, in[0], SOME, MPI_CHAR, ring);
  }
  MPI_Comm_free(&ring);
}

/* More requests than a rank looks up in one call (4,096), and than it knows (6,144). */
static void crowd(void) {
  static MPI_Request requests[2 * MOST];
  int i, j;
  for (i = 0; i < steps; ++i) {
    for (j = 0; j < MOST; ++j) MPI_Irecv(in[0] + j, 1, MPI_CHAR, left, j, MPI_COMM_WORLD, &requests[j]);
    for (j = 0; j < MOST; ++j) MPI_Isend(out, 1, MPI_CHAR, right, j, MPI_COMM_WORLD, &requests[MOST + j]);
    MPI_Waitall(2 * MOST, requests, MPI_STATUSES_IGNORE);
  }
}

const struct mode of_unknown[] = {
    {"anybody-ignored", anybody_ignored},       {"cancelled", cancelled}, {"two-sides", two_sides},
    {"neighbours-one-way", neighbours_one_way}, {"crowd", crowd},         {NULL, NULL}};
