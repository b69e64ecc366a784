/* What a program measures of itself, for a test to hold ours against: seconds in MPI calls, and seconds from MPI_Init to
 * MPI_Finalize. Written to the folder $OWN_SUMS, a file for each rank, when MPI is over. */
#ifndef OWN_SUMS_H
#define OWN_SUMS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double in_mpi, whole, begun;

#define IN_MPI(call)               \
  do {                             \
    const double at = MPI_Wtime(); \
    call;                          \
    in_mpi += MPI_Wtime() - at;    \
  } while (0)

static void own_sums_begin(void) { begun = MPI_Wtime(); }
static void own_sums_end(void) { whole = MPI_Wtime() - begun; }

static void own_sums_write(int rank) {
  char path[4096];
  FILE* file;
  if (getenv("OWN_SUMS") == NULL) return;
  snprintf(path, sizeof path, "%s/%d", getenv("OWN_SUMS"), rank);
  file = fopen(path, "w");
  if (file == NULL) exit(1);
  fprintf(file, "%.9f %.9f\n", in_mpi, whole);
  fclose(file);
}

/* Work that leaves the processor to others, for some 0.2 to 3 ms; the same for the same seed. */
static unsigned dice_state;
static unsigned dice(void) { return dice_state = dice_state * 1664525u + 1013904223u; }
static void work(void) {
  const struct timespec span = {0, 200000 + (long)(dice() >> 12) % 2800000};
  nanosleep(&span, NULL);
}

#endif
