/* Programs that know for whom each rank waits, and write it down: a line in $OWN_PARTNERS/RANK, the waits of a step with
 * '|' between them, the steps of a cycle with ';'. Usage: partners MODE STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FEW = 8, SOME = 2000, MANY = 100000, MOST = 7000, RENDEZVOUS = 1, COLLECTIVE = 2, UNCERTAIN = 4 };

static int rank, size, steps, left, right;
static char in[16][MANY], out[MANY], known[4096];

static void say(const char* text) { strncat(known, text, sizeof known - strlen(known) - 1); }

static void say_ranks(const char* word, const int* ranks, int count) {
  int other, i;
  char text[32];
  say(word);
  for (other = 0; other < size; ++other) /* ascending, each once, none of them itself or nobody */
    for (i = 0; i < count; ++i)
      if (ranks[i] == other && other != rank) {
        snprintf(text, sizeof text, " %d", other);
        say(text);
        break;
      }
}

/* One more wait of the step. */
static void say_wait(const int* from, int sources, const int* to, int targets, int flags) {
  if (known[0] && known[strlen(known) - 1] != ';') say("|");
  if (flags & COLLECTIVE) say("collective ");
  say_ranks("from", from, sources);
  if (!(flags & COLLECTIVE)) say_ranks(" to", to, targets);
  if (flags & RENDEZVOUS) say(" rendezvous");
  if (flags & UNCERTAIN) say(" perhaps");
}

static void work(void) {
  const struct timespec span = {0, 500000};
  nanosleep(&span, NULL);
}

static int all_ranks[64];
static void everybody(void) {
  int i;
  for (i = 0; i < size; ++i) all_ranks[i] = i;
  say_wait(all_ranks, size, NULL, 0, COLLECTIVE);
}

/* To `to`, from `from`, all waited for at once. */
static void exchange(MPI_Comm comm, const int* from, const int* to, int count, int bytes) {
  MPI_Request requests[32];
  int i;
  for (i = 0; i < count; ++i) MPI_Irecv(in[i], bytes, MPI_CHAR, from[i], 0, comm, &requests[i]);
  for (i = 0; i < count; ++i) MPI_Isend(out, bytes, MPI_CHAR, to[i], 0, comm, &requests[count + i]);
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
}

static void ring(int bytes) {
  int i;
  say_wait(&left, 1, &right, 1, bytes > FEW ? RENDEZVOUS : 0);
  for (i = 0; i < steps; ++i) {
    work();
    exchange(MPI_COMM_WORLD, &left, &right, 1, bytes);
  }
}

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

/* As often as it takes, which is another number in each step. */
static void wait_for_some(int count, MPI_Request* requests) {
  int done[32], left_over = count;
  while (left_over > 0) {
    int some;
    MPI_Waitsome(count, requests, &some, done, MPI_STATUSES_IGNORE);
    left_over -= some;
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

static void exchange_with(int other) {
  MPI_Sendrecv(out, FEW, MPI_CHAR, other, 0, in[0], FEW, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A collective by hand, one call in a loop, for as many ranks as there is a power of two. */
static void double_up(void) {
  int distance;
  for (distance = 1; distance < size; distance *= 2) exchange_with(rank ^ distance);
}

static void late_doubling(void) {
  int i;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    double_up();
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

/* Nobody has seen what sends of that size do; each goes to whom it is waited for to receive as well. */
static void exchange_more_with(int other) {
  MPI_Sendrecv(out, SOME, MPI_CHAR, other, 0, in[0], SOME, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* In pairs, the other pairs in the second half of a step. */
static int first_of_pairs(void) { return rank % 2 ? left : right; }
static int second_of_pairs(void) { return rank % 2 ? right : left; }

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

static void late_pairs(void) {
  int i;
  for (i = 0; i < steps; ++i) {
    work_or_be_late(i);
    exchange_more_with(first_of_pairs());
    exchange_more_with(second_of_pairs());
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

static void rooted(void) {
  const int root = size - 1;
  int i, sum, lower[64];
  if (rank == root)
    say_wait(all_ranks, size, NULL, 0, 0);
  else
    say_wait(&root, 1, NULL, 0, 0);
  for (i = 0; i < rank; ++i) lower[i] = i;
  say_wait(lower, rank, NULL, 0, 0);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Bcast(in[0], FEW, MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Scan(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
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

/* What can't be known, or not with certainty. Nothing is to be said of it. */

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

/* If the sends wait, ranks wait for their receivers too, or one after the other. */
static void received_first(void) {
  const int both[2] = {left, right};
  MPI_Request requests[2];
  int i, j;
  for (i = 0; i < steps; ++i) {
    work();
    for (j = 0; j < 2; ++j) MPI_Irecv(in[j], SOME, MPI_CHAR, both[j], 0, MPI_COMM_WORLD, &requests[j]);
    for (j = 0; j < 2; ++j) MPI_Send(out, SOME, MPI_CHAR, both[j], 0, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static void one_way(void) {
  MPI_Request request;
  int i;
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Irecv(in[0], SOME, MPI_CHAR, left, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, SOME, MPI_CHAR, right, 0, MPI_COMM_WORLD);
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

static void started_early(void) {
  MPI_Request request;
  int i, sum;
  for (i = 0; i < steps; ++i) {
    MPI_Iallreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    work();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void crowd(void) {
  static MPI_Request requests[2 * MOST];
  int i, j;
  for (i = 0; i < steps; ++i) {
    for (j = 0; j < MOST; ++j) MPI_Irecv(in[0] + j, 1, MPI_CHAR, left, j, MPI_COMM_WORLD, &requests[j]);
    for (j = 0; j < MOST; ++j) MPI_Isend(out, 1, MPI_CHAR, right, j, MPI_COMM_WORLD, &requests[MOST + j]);
    MPI_Waitall(2 * MOST, requests, MPI_STATUSES_IGNORE);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} modes[] = {{"eager", eager},
             {"rendezvous", rendezvous},
             {"sendrecv", sendrecv},
             {"blocking", blocking},
             {"pairs", pairs},
             {"late-pairs", late_pairs},
             {"one-way", one_way},
             {"received-first", received_first},
             {"synchronous", synchronous},
             {"halo", halo},
             {"parts", parts},
             {"persistent", persistent},
             {"one-by-one", one_by_one},
             {"asking", asking},
             {"some", some},
             {"late-some", late_some},
             {"late-turn", late_turn},
             {"doubling", doubling},
             {"late-doubling", late_doubling},
             {"late-chain", late_chain},
             {"neighbours", neighbours},
             {"anybody", anybody},
             {"rooted", rooted},
             {"turns", turns},
             {"anybody-ignored", anybody_ignored},
             {"cancelled", cancelled},
             {"two-sides", two_sides},
             {"started-early", started_early},
             {"crowd", crowd},
             {"late-eager", late_eager},
             {"late-rendezvous", late_rendezvous}};

static void write_known(void) {
  char path[4096];
  FILE* file;
  if (getenv("OWN_PARTNERS") == NULL) return;
  snprintf(path, sizeof path, "%s/%d", getenv("OWN_PARTNERS"), rank);
  file = fopen(path, "w");
  if (file == NULL) exit(1);
  fprintf(file, "%s\n", known);
  fclose(file);
}

int main(int argc, char** argv) {
  unsigned i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  steps = atoi(argv[2]);
  left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (i = 0; i < (unsigned)size; ++i) all_ranks[i] = (int)i;
  for (i = 0; i < sizeof modes / sizeof *modes; ++i)
    if (strcmp(modes[i].name, argv[1]) == 0) modes[i].run();
  write_known();
  MPI_Finalize();
  return 0;
}
