/* Messages by the function of large counts where the MPI has one, else by the other, as mpi4py from PyPI finds out: by a weak reference.
   Usage: large_if_there STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#pragma weak MPI_Sendrecv_c
int MPI_Sendrecv_c(const void* out, MPI_Count, MPI_Datatype, int, int, void* in, MPI_Count, MPI_Datatype, int, int,
                   MPI_Comm, MPI_Status*);

int main(int argc, char** argv) {
  const int steps = atoi(argv[1]);
  int step, rank, size, in = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (step = 0; step < steps; ++step) {
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (MPI_Sendrecv_c != NULL)
      MPI_Sendrecv_c(&rank, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("%s counts: %d\n", MPI_Sendrecv_c != NULL ? "large" : "small", in);
  MPI_Finalize();
  return 0;
}
