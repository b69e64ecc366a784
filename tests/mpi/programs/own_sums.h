/* What a program measures of itself, for a test to hold ours against: seconds in MPI calls, seconds from MPI_Init to
 * MPI_Finalize, and of the former those of which nobody could know from outside that nothing was done in them. Written to the
 * folder $OWN_SUMS, a file for each rank, when MPI is over. */
#ifndef OWN_SUMS_H
#define OWN_SUMS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double in_mpi, whole, begun, unsure;

#define IN_MPI(call)               \
  do {                             \
    const double at = MPI_Wtime(); \
    call;                          \
    in_mpi += MPI_Wtime() - at;    \
  } while (0)

/* Between two questions. In up to 3 us nothing is done; of those that are longer the first three of a rank tell what others are,
 * and one that is very much longer, as somebody else has the core, may be anything. */
static void rest(void (*pause)(void)) {
  static int rests;
  const double at = MPI_Wtime();
  double took;
  pause();
  took = MPI_Wtime() - at;
  if (took > 3e-6 && (++rests <= 3 || took > 0.005)) unsure += took;
}

static void own_sums_begin(void) { begun = MPI_Wtime(); }
static void own_sums_end(void) { whole = MPI_Wtime() - begun; }

static void own_sums_write(int rank) {
  char path[4096];
  FILE* file;
  if (getenv("OWN_SUMS") == NULL) return;
  snprintf(path, sizeof path, "%s/%d", getenv("OWN_SUMS"), rank);
  file = fopen(path, "w");
  if (file == NULL) exit(1);
  fprintf(file, "%.9f %.9f %.9f\n", in_mpi, whole, unsure);
  fclose(file);
}

/* Work that leaves the processor to others, for some 0.2 to 3 ms; the same for the same seed. */
static unsigned dice_state;
static unsigned dice(void) { return dice_state = dice_state * 1664525u + 1013904223u; }
static void work(void) {
  const struct timespec span = {0, 200000 + (long)(dice() >> 12) % 2800000};
  nanosleep(&span, NULL);
}
static void nap(void) {
  const struct timespec span = {0, 100000};
  nanosleep(&span, NULL);
}

#endif
