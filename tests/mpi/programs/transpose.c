/* Transposes of a matrix that is spread over the ranks, as in a parallel Fourier transform, twice in a step. The MPI
 * functions get sentinels where they may. Usage: transpose STEPS SEED */
#include "own_sums.h"

int main(int argc, char** argv) {
  const int steps = atoi(argv[1]);
  int rank, size, step, i;
  double *mine, *other, norm = 0;
  MPI_Request request;
  MPI_Init(NULL, NULL);
  own_sums_begin();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  dice_state = (unsigned)atoi(argv[2]) + 7919u * (unsigned)rank;
  mine = malloc(sizeof *mine * (size_t)size);
  other = malloc(sizeof *other * (size_t)size);
  for (i = 0; i < size; ++i) mine[i] = rank + 0.001 * i;
  for (step = 0; step < steps; ++step) {
    work();
    IN_MPI(MPI_Alltoall(mine, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    work();
    IN_MPI(MPI_Ialltoall(other, 1, MPI_DOUBLE, mine, 1, MPI_DOUBLE, MPI_COMM_WORLD, &request));
    IN_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (i = 0; i < size; ++i) mine[i] = 0.999 * mine[i] + step;
  }
  for (i = 0; i < size; ++i) norm += mine[i];
  IN_MPI(MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  own_sums_end();
  MPI_Finalize();
  own_sums_write(rank);
  if (rank == 0) printf("norm %.17g\n", norm);
  free(mine);
  free(other);
  return 0;
}
