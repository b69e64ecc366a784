/* A tool as many have it: takes calls, and hands them on by their names for tools. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

static int barriers;

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}

/* Level 7 is its own. */
int MPI_Pcontrol(const int level, ...) {
  va_list more;
  double first, last;
  int between, rank;
  if (level != 7) return PMPI_Pcontrol(level);
  va_start(more, level);
  first = va_arg(more, double);
  between = va_arg(more, int);
  last = va_arg(more, double);
  va_end(more);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("the tool was told %g, %d and %g\n", first, between, last);
  return 0;
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("the tool saw %d barriers\n", barriers);
  return PMPI_Finalize();
}
