/* Ways of exchanging in which a rank knows for whom it waits, and says so. */
#include "partners.h"

#include <stdlib.h>
#include <time.h>

static void ring(int bytes) {
  int i;
  say_wait(&left, 1, &right, 1, bytes > FEW ? RENDEZVOUS : 0);
  for (i = 0; i < steps; ++i) {
    work();
    exchange(MPI_COMM_WORLD, &left, &right, 1, bytes);
  }
}

static void doubling(void) {
  int i, distance;
  for (distance = 1; distance < size; distance *= 2) {
    const int other = rank ^ distance;
    say_wait(&other, 1, &other, 1, 0);
  }
  for (i = 0; i < steps; ++i) {
    work();
    double_up();
  }
}

/* In a tree with as many children as there are, each rank with its neighbours one after the other. */
static void neighbours(void) {
  int others[64], count = 0, i, j;
  if (rank > 0) others[count++] = (rank - 1) / 3;
  for (j = 3 * rank + 1; j <= 3 * rank + 3 && j < size; ++j) others[count++] = j;
  for (j = 0; j < count; ++j) say_wait(&others[j], 1, &others[j], 1, 0);
  for (i = 0; i < steps; ++i) {
    work();
    for (j = 0; j < count; ++j) exchange_with(others[j]);
  }
}

static void eager(void) { ring(FEW); }

static void rendezvous(void) { ring(MANY); }

static void sendrecv(void) {
  int i;
  say_wait(&left, 1, &right, 1, 0);
  say_wait(&right, 1, &left, 1, 0);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Sendrecv(out, FEW, MPI_CHAR, right, 1, in[0], FEW, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, FEW, MPI_CHAR, left, 2, in[0], FEW, MPI_CHAR, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* An open chain: who has nobody on a side leaves that out. */
static void blocking(void) {
  const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int both[2] = {below, above};
  int i;
  say_wait(both, 2, both, 2, 0);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Send(out, FEW, MPI_CHAR, above, 0, MPI_COMM_WORLD);
    MPI_Send(out, FEW, MPI_CHAR, below, 0, MPI_COMM_WORLD);
    MPI_Recv(in[0], FEW, MPI_CHAR, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in[0], FEW, MPI_CHAR, above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* The first send waits for its receiver before the second goes out. */
static void blocked(void) {
  const int both[2] = {left, right};
  int i;
  say_wait(NULL, 0, &left, 1, RENDEZVOUS);
  say_wait(both, 2, &right, 1, RENDEZVOUS);
  srand(rank + 1);
  for (i = 0; i < steps; ++i) {
    work_unevenly();
    exchange_by_send(both, 2, MANY);
  }
}

/* Nobody has seen what sends of that size do: the first may wait for its receiver before the second goes out, which goes to
   whom it is waited for to receive as well. */
static void received_first(void) {
  const int both[2] = {left, right};
  int i;
  say_wait(NULL, 0, &left, 1, UNCERTAIN);
  say_wait(both, 2, &right, 1, RENDEZVOUS | UNCERTAIN);
  for (i = 0; i < steps; ++i) {
    work();
    exchange_by_send(both, 2, SOME);
  }
}

static void one_way(void) {
  MPI_Request request;
  int i;
  say_wait(&left, 1, &right, 1, UNCERTAIN);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Irecv(in[0], SOME, MPI_CHAR, left, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, SOME, MPI_CHAR, right, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void shift(void) {
  int i;
  say_wait(&left, 1, &right, 1, UNCERTAIN);
  for (i = 0; i < steps; ++i) {
    work();
    shift_up(SOME);
  }
}

static void pairs(void) {
  const int first = first_of_pairs(), second = second_of_pairs();
  int i;
  say_wait(&first, 1, &first, 1, RENDEZVOUS | UNCERTAIN);
  say_wait(&second, 1, &second, 1, RENDEZVOUS | UNCERTAIN);
  for (i = 0; i < steps; ++i) {
    work();
    exchange_more_with(first);
    exchange_more_with(second);
  }
}

static void synchronous(void) {
  MPI_Request request;
  int i;
  say_wait(&left, 1, &right, 1, RENDEZVOUS);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Irecv(in[0], FEW, MPI_CHAR, left, 0, MPI_COMM_WORLD, &request);
    MPI_Ssend(out, FEW, MPI_CHAR, right, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* A tube: closed one way round, open the other; and a collective of the grid. */
static void halo(void) {
  int shape[2] = {0, 0}, periodic[2] = {1, 0}, neighbours[4], i;
  MPI_Comm grid;
  MPI_Dims_create(size, 2, shape);
  MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periodic, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &neighbours[0], &neighbours[1]);
  MPI_Cart_shift(grid, 1, 1, &neighbours[2], &neighbours[3]);
  say_wait(neighbours, 4, neighbours, 4, 0);
  everybody();
  for (i = 0; i < steps; ++i) {
    double sum, mine = i;
    work();
    exchange(grid, neighbours, neighbours, 4, FEW);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
  }
  MPI_Comm_free(&grid);
}

/* Every other rank; and the world the other way round. */
static void parts(void) {
  MPI_Comm part, turned;
  int group[64], count = 0, i, below, above;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  MPI_Comm_rank(turned, &i);
  below = (i + size - 1) % size, above = (i + 1) % size;
  say_wait(&right, 1, &left, 1, 0);
  for (i = rank % 2; i < size; i += 2) group[count++] = i;
  say_wait(group, count, NULL, 0, COLLECTIVE);
  for (i = 0; i < steps; ++i) {
    int sum;
    work();
    exchange(turned, &below, &above, 1, FEW);
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, part);
  }
  MPI_Comm_free(&part);
  MPI_Comm_free(&turned);
}

/* Whether a small persistent send waits for its receiver: by the time it takes where that is late. */
static int small_persistent_sends_wait(void) {
  const struct timespec span = {0, 20000000};
  MPI_Request request = MPI_REQUEST_NULL;
  int i, waits = 0, any;
  if (rank % 2 == 1) MPI_Recv_init(in[0], FEW, MPI_CHAR, rank - 1, 9, MPI_COMM_WORLD, &request);
  if (rank % 2 == 0 && rank + 1 < size) MPI_Send_init(out, FEW, MPI_CHAR, rank + 1, 9, MPI_COMM_WORLD, &request);
  for (i = 0; request != MPI_REQUEST_NULL && i < 7; ++i) {
    const double begin = MPI_Wtime();
    if (rank % 2 == 1) nanosleep(&span, NULL);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    waits += rank % 2 == 0 && MPI_Wtime() - begin > 0.01;
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  waits = waits > 3;
  MPI_Allreduce(&waits, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any;
}

static void persistent(void) {
  MPI_Request requests[2];
  int i;
  MPI_Recv_init(in[0], FEW, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, FEW, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[1]);
  say_wait(&left, 1, &right, 1, small_persistent_sends_wait() ? RENDEZVOUS : 0);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void post_four(MPI_Request* requests, int* partners) {
  int i;
  partners[0] = left, partners[1] = right, partners[2] = (left + size - 1) % size, partners[3] = (right + 1) % size;
  for (i = 0; i < 4; ++i) MPI_Irecv(in[i], MANY, MPI_CHAR, partners[i], 0, MPI_COMM_WORLD, &requests[i]);
  for (i = 0; i < 4; ++i) MPI_Isend(out, MANY, MPI_CHAR, partners[i], 0, MPI_COMM_WORLD, &requests[4 + i]);
}

/* In the order in which they come. */
static void one_by_one(void) {
  MPI_Request requests[8];
  int partners[4], i, j, done;
  for (i = 0; i < steps; ++i) {
    work();
    post_four(requests, partners);
    for (j = 0; j < 8; ++j) MPI_Waitany(8, requests, &done, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  say_wait(partners, 4, partners, 4, RENDEZVOUS);
  everybody();
}

static void some(void) {
  MPI_Request requests[8];
  int partners[4], i;
  for (i = 0; i < steps; ++i) {
    work();
    post_four(requests, partners);
    wait_for_some(8, requests);
  }
  say_wait(partners, 4, partners, 4, RENDEZVOUS);
}

static void asking(void) {
  MPI_Request requests[8];
  int partners[4], done[8], count, left_over, flag, i;
  for (i = 0; i < steps; ++i) {
    work();
    post_four(requests, partners);
    MPI_Waitsome(4, requests, &count, done, MPI_STATUSES_IGNORE);
    for (left_over = 4 - count; left_over > 0; left_over -= count)
      MPI_Testsome(4, requests, &count, done, MPI_STATUSES_IGNORE);
    for (flag = 0; !flag;) MPI_Testall(2, requests + 4, &flag, MPI_STATUSES_IGNORE);
    for (flag = 0; !flag;) MPI_Test(&requests[6], &flag, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;) MPI_Testany(1, &requests[7], &count, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  say_wait(partners, 4, partners, 4, RENDEZVOUS);
  everybody();
}

/* From whoever sends, which a status tells. */
static void anybody(void) {
  const int both[2] = {left, right};
  MPI_Request requests[2];
  MPI_Status statuses[2], status;
  MPI_Message message;
  int i;
  say_wait(both, 2, both, 2, 0);
  everybody();
  say_wait(&left, 1, &right, 1, 0);
  say_wait(&right, 1, &left, 1, 0);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Irecv(in[0], FEW, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], FEW, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(out, FEW, MPI_CHAR, left, 0, MPI_COMM_WORLD);
    MPI_Send(out, FEW, MPI_CHAR, right, 0, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, statuses);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, FEW, MPI_CHAR, right, 1, MPI_COMM_WORLD);
    MPI_Recv(in[0], FEW, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    MPI_Send(out, FEW, MPI_CHAR, left, 2, MPI_COMM_WORLD);
    MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in[0], FEW, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  }
}

static void say_rooted(int root) {
  int i, lower[64];
  if (rank == root)
    say_wait(all_ranks, size, NULL, 0, 0);
  else
    say_wait(&root, 1, NULL, 0, 0);
  for (i = 0; i < rank; ++i) lower[i] = i;
  say_wait(lower, rank, NULL, 0, 0);
}

static void rooted(void) {
  const int root = size - 1;
  int i, sum;
  say_rooted(root);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Bcast(in[0], FEW, MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Scan(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Nonblocking ones are as those that block; the last is asked for again and again. */
static void started_rooted(void) {
  const int root = size - 1;
  int i, flag, sum;
  MPI_Request request;
  say_rooted(root);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Ibcast(in[0], FEW, MPI_CHAR, root, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ireduce(&i, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iscan(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    for (flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
}

/* With messages, and one of every other rank, in whatever order they end. */
static void started_parts(void) {
  MPI_Comm part;
  MPI_Request requests[4];
  int group[64], count = 0, sums[2], i, j, done;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  for (i = rank % 2; i < size; i += 2) group[count++] = i;
  say_wait(&left, 1, &right, 1, 0);
  say_wait(group, count, NULL, 0, COLLECTIVE);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Iallreduce(&i, &sums[0], 1, MPI_INT, MPI_SUM, part, &requests[0]);
    MPI_Irecv(in[0], FEW, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, FEW, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Iallreduce(&i, &sums[1], 1, MPI_INT, MPI_SUM, part, &requests[3]);
    for (j = 0; j < 4; ++j) MPI_Waitany(4, requests, &done, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&part);
}

static void started_early(void) {
  MPI_Request request;
  int i, sum;
  everybody();
  for (i = 0; i < steps; ++i) {
    MPI_Iallreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    work();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* Before the step in which it is waited for. */
static void started_ahead(void) {
  MPI_Request request;
  int i;
  everybody();
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Persistent ones, where the MPI has them. */
static void started_again(void) {
#if MPI_VERSION >= 4
  const int root = size - 1;
  MPI_Request requests[2];
  int i, sum, mine = 0;
  if (rank != root) say_wait(&root, 1, NULL, 0, 0);
  everybody();
  MPI_Bcast_init(in[0], FEW, MPI_CHAR, root, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
#else
  started_early();
#endif
}

/* To the right and to the left by turns; every twentieth step waits for all before. */
static void turns(void) {
  int i;
  for (i = 0; i < 20; ++i) {
    if (i > 0) say(";");
    if (i == 19) everybody();
    say_wait(i % 2 ? &left : &right, 1, i % 2 ? &right : &left, 1, 0);
  }
  for (i = 0; i < steps; ++i) {
    work();
    if (i % 20 == 19) MPI_Barrier(MPI_COMM_WORLD);
    exchange(MPI_COMM_WORLD, i % 2 ? &left : &right, i % 2 ? &right : &left, 1, FEW);
  }
}

const struct mode of_known[] = {{"eager", eager},
                                {"rendezvous", rendezvous},
                                {"sendrecv", sendrecv},
                                {"blocking", blocking},
                                {"blocked", blocked},
                                {"received-first", received_first},
                                {"one-way", one_way},
                                {"shift", shift},
                                {"pairs", pairs},
                                {"synchronous", synchronous},
                                {"halo", halo},
                                {"parts", parts},
                                {"persistent", persistent},
                                {"one-by-one", one_by_one},
                                {"asking", asking},
                                {"some", some},
                                {"doubling", doubling},
                                {"neighbours", neighbours},
                                {"anybody", anybody},
                                {"rooted", rooted},
                                {"started-rooted", started_rooted},
                                {"started-parts", started_parts},
                                {"started-early", started_early},
                                {"started-ahead", started_ahead},
                                {"started-again", started_again},
                                {"turns", turns},
                                {NULL, NULL}};
