/* Ways of exchanging in which rank 3 is late by a second once. */
#include "partners.h"

#include <time.h>

/* Rank 3 is late by a second once. */
static void work_or_be_late(int step) {
  const struct timespec span = {0, 20000000}, second = {1, 0};
  nanosleep(&span, NULL);
  if (rank == 3 && step == steps / 2) nanosleep(&second, NULL);
}

static void late(int bytes) {
  int i;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    exchange(MPI_COMM_WORLD, &left, &right, 1, bytes);
  }
}

static void late_eager(void) { late(FEW); }

static void late_rendezvous(void) { late(MANY); }

/* In the last quarter ranks exchange with another one each. */
static void late_turn(void) {
  const int both[2] = {left, right}, other = (rank ^ 1) < size ? rank ^ 1 : MPI_PROC_NULL;
  int i;
  for (i = 0; i < steps; ++i) {
    const int turned = i >= steps * 3 / 4, *partners = turned ? &other : both;
    work_or_be_late(i);
    exchange(MPI_COMM_WORLD, partners, partners, turned ? 1 : 2, FEW);
  }
}

static void late_some(void) {
  const int both[2] = {left, right};
  MPI_Request requests[4];
  int i, j;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    for (j = 0; j < 2; ++j) MPI_Irecv(in[j], FEW, MPI_CHAR, both[j], 0, MPI_COMM_WORLD, &requests[j]);
    for (j = 0; j < 2; ++j) MPI_Isend(out, FEW, MPI_CHAR, both[j], 0, MPI_COMM_WORLD, &requests[2 + j]);
    wait_for_some(4, requests);
  }
}

static void late_doubling(void) {
  int i;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    double_up();
  }
}

/* Each with its lower neighbour first: who waits for that one makes the next wait in the same step. */
static void late_chain(void) {
  int i;
  for (i = 0; i < steps; ++i) {
    int other;
    work_or_be_late(i);
    for (other = rank - 1; other <= rank + 1; other += 2)
      if (other >= 0 && other < size) exchange_with(other);
  }
}

static void late_pairs(void) {
  int i;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    exchange_more_with(first_of_pairs());
    exchange_more_with(second_of_pairs());
  }
}

const struct mode of_late[] = {{"late-pairs", late_pairs},
                               {"late-some", late_some},
                               {"late-turn", late_turn},
                               {"late-doubling", late_doubling},
                               {"late-chain", late_chain},
                               {"late-eager", late_eager},
                               {"late-rendezvous", late_rendezvous},
                               {NULL, NULL}};
