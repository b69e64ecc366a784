/* A ring whose ranks ask for their messages until they are there, or ask while they work. Usage: asking WAY STEPS SEED.
 *   testall, yielding, sleeping   MPI_Testall again and again; with sched_yield, or 0.1 ms of sleep, between
 *   one-by-one, in-turns          MPI_Test, of one request after the other, or of all that are left
 *   testany, testsome, status     MPI_Testany, MPI_Testsome, or MPI_Request_get_status with MPI_Wait behind it
 *   iprobe                        MPI_Iprobe for each of two messages, then MPI_Recv
 *   progress                      MPI_Testall between 16 blocks of work, then MPI_Waitall
 *   until-done                    the same, until it has said yes
 *   short-blocks                  MPI_Test between blocks of 5 us, then MPI_Waitall
 * Takes its time for waiting by own_sums.h: a loop that does nothing but ask is one wait. */
#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <string.h>

#include "own_sums.h"

enum { BLOCKS = 16 };
static MPI_Request requests[4];
static long long in[2], out;
static int left, right;

static void post(void) {
  IN_MPI(MPI_Irecv(&in[0], 1, MPI_LONG_LONG, left, 0, MPI_COMM_WORLD, &requests[0]));
  IN_MPI(MPI_Irecv(&in[1], 1, MPI_LONG_LONG, right, 1, MPI_COMM_WORLD, &requests[1]));
  IN_MPI(MPI_Isend(&out, 1, MPI_LONG_LONG, right, 0, MPI_COMM_WORLD, &requests[2]));
  IN_MPI(MPI_Isend(&out, 1, MPI_LONG_LONG, left, 1, MPI_COMM_WORLD, &requests[3]));
}

static void no_pause(void) {}
static void hand_on(void) { sched_yield(); }
static void yield(void) { rest(hand_on); }
static void sleep_a_little(void) { rest(nap); }

static void ask_for_all(void (*pause)(void)) {
  int there = 0;
  for (;;) {
    MPI_Testall(4, requests, &there, MPI_STATUSES_IGNORE);
    if (there) return;
    pause();
  }
}
static void ask_one_by_one(void) {
  int i, there;
  for (i = 0; i < 4; ++i)
    for (there = 0; !there;) MPI_Test(&requests[i], &there, MPI_STATUS_IGNORE);
}
static void ask_in_turns(void) {
  int first = 0, second = 0, third = 0, fourth = 0;
  while (!(first && second && third && fourth)) {
    if (!first) MPI_Test(&requests[0], &first, MPI_STATUS_IGNORE);
    if (!second) MPI_Test(&requests[1], &second, MPI_STATUS_IGNORE);
    if (!third) MPI_Test(&requests[2], &third, MPI_STATUS_IGNORE);
    if (!fourth) MPI_Test(&requests[3], &fourth, MPI_STATUS_IGNORE);
  }
}
static void ask_for_any(void) {
  int left_over = 4, place, there;
  while (left_over > 0) {
    MPI_Testany(4, requests, &place, &there, MPI_STATUS_IGNORE);
    left_over -= there;
  }
}
static void ask_for_some(void) {
  int left_over = 4, count, places[4];
  while (left_over > 0) {
    MPI_Testsome(4, requests, &count, places, MPI_STATUSES_IGNORE);
    left_over -= count;
  }
}
static void ask_for_status(void) {
  int i, there;
  for (i = 0; i < 4; ++i) {
    for (there = 0; !there;) MPI_Request_get_status(requests[i], &there, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}
static void probe_for(int from, int tag, long long* into) {
  int there = 0;
  while (!there) MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  MPI_Recv(into, 1, MPI_LONG_LONG, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void compute(double seconds) {
  const double until = MPI_Wtime() + seconds;
  while (MPI_Wtime() < until) continue;
}
/* The same that work() does, in blocks. */
static void work_and_ask(int blocks, double block, int until_done) {
  int i, there = 0;
  for (i = 0; i < blocks; ++i) {
    compute(block);
    if (!until_done || !there) IN_MPI(MPI_Testall(4, requests, &there, MPI_STATUSES_IGNORE));
  }
  if (!until_done || !there) IN_MPI(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

static void step(const char* way) {
  const double seconds = 0.0002 + (dice() >> 12) % 1800000 * 1e-9;
  if (strcmp(way, "progress") == 0 || strcmp(way, "until-done") == 0) {
    post();
    work_and_ask(BLOCKS, seconds / BLOCKS, strcmp(way, "until-done") == 0);
    return;
  }
  if (strcmp(way, "short-blocks") == 0) {
    post();
    work_and_ask((int)(seconds / 5e-6), 5e-6, 0);
    return;
  }
  work();
  if (strcmp(way, "iprobe") == 0) {
    IN_MPI(MPI_Send(&out, 1, MPI_LONG_LONG, right, 0, MPI_COMM_WORLD));
    IN_MPI(MPI_Send(&out, 1, MPI_LONG_LONG, left, 1, MPI_COMM_WORLD));
    IN_MPI(probe_for(left, 0, &in[0]));
    IN_MPI(probe_for(right, 1, &in[1]));
    return;
  }
  post();
  if (strcmp(way, "testall") == 0) IN_MPI(ask_for_all(no_pause));
  if (strcmp(way, "yielding") == 0) IN_MPI(ask_for_all(yield));
  if (strcmp(way, "sleeping") == 0) IN_MPI(ask_for_all(sleep_a_little));
  if (strcmp(way, "one-by-one") == 0) IN_MPI(ask_one_by_one());
  if (strcmp(way, "in-turns") == 0) IN_MPI(ask_in_turns());
  if (strcmp(way, "testany") == 0) IN_MPI(ask_for_any());
  if (strcmp(way, "testsome") == 0) IN_MPI(ask_for_some());
  if (strcmp(way, "status") == 0) IN_MPI(ask_for_status());
}

int main(int argc, char** argv) {
  const int steps = atoi(argv[2]);
  long long sum = 0, all = 0;
  int rank, size, i;
  MPI_Init(&argc, &argv);
  own_sums_begin();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size, right = (rank + 1) % size;
  dice_state = (unsigned)atoi(argv[3]) + 7919u * (unsigned)rank;
  out = rank + 1;
  for (i = 0; i < steps; ++i) {
    step(argv[1]);
    out = (2 * out + 3 * in[0] + 5 * in[1] + i) % 1000003;
    sum += out;
  }
  own_sums_end();
  MPI_Reduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s, sum %lld\n", argv[1], all);
  own_sums_write(rank);
  MPI_Finalize();
  return 0;
}
