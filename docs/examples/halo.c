/* A halo exchange and an allreduce that say what they do.
 *
 *   mpicc -I probe/include docs/examples/halo.c -o halo -L build/release/lib -lidlewave-probe \
 *     -Wl,-rpath,$PWD/build/release/lib
 *   build/release/bin/idlewave run -- mpirun -n 4 ./halo */
#include <idlewave/probe.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCells = 1 << 18, kSteps = 200 };
enum { kHalo, kSum }; /* our numbers for whom a wait depends on */

/* Jacobi iteration on a line; cells 0 and kCells + 1 belong to the neighbours. */
static double relax(const double *from, double *to) {
  double change = 0;
  for (int i = 1; i <= kCells; ++i) {
    to[i] = 0.5 * (from[i - 1] + from[i + 1]);
    change += (to[i] - from[i]) * (to[i] - from[i]);
  }
  return change;
}

/* begin and end nest: whatever went on before goes on afterwards, so a library can say what it does without knowing
 * what its caller does. */
static void exchange(double *cells, int left, int right) {
  MPI_Request requests[4];
  const int neighbours[2] = {left, right};
  idlewave_begin(IDLEWAVE_COMMUNICATE); /* moving data */
  MPI_Irecv(&cells[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&cells[kCells + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&cells[kCells], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&cells[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
  idlewave_begin(IDLEWAVE_WAIT); /* blocked until the neighbours are ready */
  idlewave_partners(kHalo, neighbours, 2, neighbours, 2, 0);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  idlewave_end();
  idlewave_end();
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *now = calloc(kCells + 2, sizeof(double)), *next = calloc(kCells + 2, sizeof(double));
  if (!now || !next) MPI_Abort(MPI_COMM_WORLD, 1);
  now[kCells / 2] = rank + 1;

  idlewave_start(rank, size);
  double total = 0;
  for (int step = 0; step < kSteps; ++step) {
    idlewave_step(step);
    idlewave_begin(IDLEWAVE_COMPUTE);
    idlewave_traffic(3 * sizeof(double) * kCells); /* for the bandwidth, where no counters can be read */
    exchange(now, (rank + size - 1) % size, (rank + 1) % size);
    double change = relax(now, next);
    idlewave_begin(IDLEWAVE_WAIT); /* a collective that all leave together waits, whatever it moves */
    idlewave_partners(kSum, NULL, 0, NULL, 0, IDLEWAVE_COLLECTIVE); /* of all ranks */
    MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    idlewave_end();
    idlewave_end();
    double *swap = now;
    now = next;
    next = swap;
  }
  idlewave_stop();

  if (rank == 0) printf("change of the last step: %.6e\n", total);
  free(now);
  free(next);
  MPI_Finalize();
}
