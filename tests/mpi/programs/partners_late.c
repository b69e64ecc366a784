/* Ways of exchanging in which one rank is late by a second once. */
#include "partners.h"

#include <stdlib.h>
#include <time.h>

static void work_or_be_late(int step) {
  const struct timespec span = {0, 20000000}, second = {1, 0};
  nanosleep(&span, NULL);
  if (rank == late_rank && step == steps / 2) nanosleep(&second, NULL);
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

static void late_shift(int bytes) {
  int i;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    shift_up(bytes);
  }
}

static void late_shift_of_some(void) { late_shift(SOME); }

static void late_shift_of_many(void) { late_shift(MANY); }

static void late_blocked(void) {
  const int both[2] = {left, right};
  int i;
  srand(rank + 1);
  for (i = 0; i < steps; ++i) {
    work_unevenly();
    work_or_be_late(i);
    exchange_by_send(both, 2, MANY);
  }
}

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

static void wait_for_all(int is_asked) {
  MPI_Request request;
  int mine = 1, sum, flag;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (!is_asked) MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (flag = !is_asked; !flag;) MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
}

static void late_started(void) {
  int i;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    wait_for_all(0);
  }
}

/* Nobody sees steps in calls that don't wait. */
static void late_asked(void) {
  int i;
  for (i = 0; i < steps; ++i) {
    MPI_Pcontrol(1);
    work_or_be_late(i);
    wait_for_all(1);
  }
}

/* The collective goes on beside the work of the step, and that of the step in which one is late. */
static void late_early(void) {
  MPI_Request request;
  int i;
  for (i = 0; i < steps; ++i) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    work_or_be_late(i);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void meet_all(void) {
  int mine = 1, sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Between two of three waits of its step; ranks do more in some parts of a step than others do. */
static void late_between(void) {
  const int both[2] = {left, right};
  int i;
  srand(rank + 1);
  for (i = 0; i < steps; ++i) {
    exchange(MPI_COMM_WORLD, both, both, 2, FEW);
    work_unevenly();
    meet_all();
    work_or_be_late(i);
    work_unevenly();
    meet_all();
  }
}

/* Every fourth step waits for all. */
static void late_flat(void) {
  int i;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    exchange(MPI_COMM_WORLD, &left, &right, 1, FEW);
    if (i % 4 == 3) wait_for_all(0);
  }
}

/* All but the root wait for it. */
static void late_root(void) {
  MPI_Request request;
  int i;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    MPI_Ibcast(out, FEW, MPI_CHAR, late_rank, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

const struct mode of_late[] = {{"late-pairs", late_pairs},
                               {"late-between", late_between},
                               {"late-shift-of-some", late_shift_of_some},
                               {"late-shift-of-many", late_shift_of_many},
                               {"late-blocked", late_blocked},
                               {"late-started", late_started},
                               {"late-asked", late_asked},
                               {"late-early", late_early},
                               {"late-flat", late_flat},
                               {"late-root", late_root},
                               {"late-some", late_some},
                               {"late-turn", late_turn},
                               {"late-doubling", late_doubling},
                               {"late-chain", late_chain},
                               {"late-eager", late_eager},
                               {"late-rendezvous", late_rendezvous},
                               {NULL, NULL}};
