/* A tool as many have it: takes calls, and hands them on by their names for tools. */
#include <mpi.h>
#include <stdio.h>

static int barriers;

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("the tool saw %d barriers\n", barriers);
  return PMPI_Finalize();
}
