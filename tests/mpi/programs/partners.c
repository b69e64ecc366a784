/* Programs that know for whom each rank waits, and write it down: a line in $OWN_PARTNERS/RANK, the waits of a step with
 * '|' between them, the steps of a cycle with ';'. Usage: partners MODE STEPS
 * [RANK-THAT-IS-LATE] */
#include "partners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int rank, size, steps, late_rank, left, right, all_ranks[64];
char in[16][MANY], out[MANY];
static char known[4096];

void say(const char* text) { strncat(known, text, sizeof known - strlen(known) - 1); }

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

void say_wait(const int* from, int sources, const int* to, int targets, int flags) {
  if (known[0] && known[strlen(known) - 1] != ';') say("|");
  if (flags & COLLECTIVE) say("collective ");
  say_ranks("from", from, sources);
  if (!(flags & COLLECTIVE)) say_ranks(" to", to, targets);
  if (flags & RENDEZVOUS) say(" rendezvous");
  if (flags & UNCERTAIN) say(" perhaps");
}

void work(void) {
  const struct timespec span = {0, 500000};
  nanosleep(&span, NULL);
}

void work_unevenly(void) {
  const struct timespec span = {0, rand() % 2000000};
  nanosleep(&span, NULL);
}

void everybody(void) {
  int i;
  for (i = 0; i < size; ++i) all_ranks[i] = i;
  say_wait(all_ranks, size, NULL, 0, COLLECTIVE);
}

void exchange(MPI_Comm comm, const int* from, const int* to, int count, int bytes) {
  MPI_Request requests[32];
  int i;
  for (i = 0; i < count; ++i) MPI_Irecv(in[i], bytes, MPI_CHAR, from[i], 0, comm, &requests[i]);
  for (i = 0; i < count; ++i) MPI_Isend(out, bytes, MPI_CHAR, to[i], 0, comm, &requests[count + i]);
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
}

void exchange_by_send(const int* with, int count, int bytes) {
  MPI_Request requests[32];
  int i;
  for (i = 0; i < count; ++i) MPI_Irecv(in[i], bytes, MPI_CHAR, with[i], 0, MPI_COMM_WORLD, &requests[i]);
  for (i = 0; i < count; ++i) MPI_Send(out, bytes, MPI_CHAR, with[i], 0, MPI_COMM_WORLD);
  for (i = 0; i < count; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

void shift_up(int bytes) {
  MPI_Sendrecv(out, bytes, MPI_CHAR, right, 1, in[0], bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void wait_for_some(int count, MPI_Request* requests) {
  int done[32], left_over = count;
  while (left_over > 0) {
    int some;
    MPI_Waitsome(count, requests, &some, done, MPI_STATUSES_IGNORE);
    left_over -= some;
  }
}

void exchange_with(int other) {
  MPI_Sendrecv(out, FEW, MPI_CHAR, other, 0, in[0], FEW, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void double_up(void) {
  int distance;
  for (distance = 1; distance < size; distance *= 2) exchange_with(rank ^ distance);
}

void exchange_more_with(int other) {
  MPI_Sendrecv(out, SOME, MPI_CHAR, other, 0, in[0], SOME, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int first_of_pairs(void) { return rank % 2 ? left : right; }

int second_of_pairs(void) { return rank % 2 ? right : left; }

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
  const struct mode* all[] = {of_known, of_late, of_topology, of_unknown, of_windows};
  const struct mode* mode;
  unsigned i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  steps = atoi(argv[2]);
  late_rank = argc > 3 ? atoi(argv[3]) : 3;
  left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (i = 0; i < (unsigned)size; ++i) all_ranks[i] = (int)i;
  for (i = 0; i < sizeof all / sizeof *all; ++i)
    for (mode = all[i]; mode->name != NULL; ++mode)
      if (strcmp(mode->name, argv[1]) == 0) mode->run();
  write_known();
  MPI_Finalize();
  return 0;
}
