/* A ring within MPI sessions, by communicators whose ranks are those of the world backwards. Usage: sessions MODE STEPS
 *   alone    one session, and no MPI_Init
 *   open     the same, which is never finalized
 *   two      two at a time: the first ends in the middle
 *   again    one after the other
 *   around   one that begins before MPI_Init and ends before MPI_Finalize
 *   across   one that begins after MPI_Init and ends after MPI_Finalize
 *   behind   one after MPI_Finalize */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static MPI_Session begin(void) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  return session;
}

static MPI_Comm backwards(MPI_Session session, const char* tag) {
  MPI_Group all, turned;
  MPI_Comm comm;
  int ranks[64], size, i;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_size(all, &size);
  for (i = 0; i < size; ++i) ranks[i] = size - 1 - i;
  MPI_Group_incl(all, size, ranks, &turned);
  MPI_Comm_create_from_group(turned, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&all);
  MPI_Group_free(&turned);
  return comm;
}

static int sum;
static void ring(MPI_Comm comm, int steps) {
  const struct timespec work = {0, 1000000};
  int rank, size, i, from = 0, all;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (i = 0; i < steps; ++i) {
    MPI_Request requests[2];
    nanosleep(&work, NULL);
    MPI_Irecv(&from, 1, MPI_INT, (rank + size - 1) % size, 0, comm, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 0, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&from, &all, 1, MPI_INT, MPI_SUM, comm);
    sum += all;
  }
}

static void ring_in(MPI_Session session, const char* tag, int steps) {
  MPI_Comm comm = backwards(session, tag);
  ring(comm, steps);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "alone";
  const int steps = argc > 2 ? atoi(argv[2]) : 40;
  MPI_Session one, other;
  if (strcmp(mode, "across") == 0 || strcmp(mode, "behind") == 0) MPI_Init(&argc, &argv);
  if (strcmp(mode, "behind") == 0) {
    ring(MPI_COMM_WORLD, steps);
    MPI_Finalize();
  }
  one = begin();
  if (strcmp(mode, "around") == 0) MPI_Init(&argc, &argv);
  if (strcmp(mode, "two") == 0) {
    other = begin();
    ring_in(one, "one", steps);
    MPI_Session_finalize(&one);
    ring_in(other, "other", steps);
    one = other;
  } else if (strcmp(mode, "again") == 0) {
    ring_in(one, "one", steps);
    MPI_Session_finalize(&one);
    one = begin();
    ring_in(one, "other", steps);
  } else {
    ring_in(one, "one", steps);
  }
  if (strcmp(mode, "around") == 0 || strcmp(mode, "across") == 0) ring(MPI_COMM_WORLD, steps);
  if (strcmp(mode, "across") == 0) {
    MPI_Finalize();
    ring_in(one, "last", steps);
  }
  if (strcmp(mode, "open") != 0) MPI_Session_finalize(&one);
  if (strcmp(mode, "around") == 0) MPI_Finalize();
  printf("sum %d\n", sum);
  return 0;
}
