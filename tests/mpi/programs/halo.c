/* A 27-point halo exchange on a periodic grid of ranks, with an allreduce in each step. Usage: halo STEPS SEED CODE PAUSE
 * Ends with the exit code CODE on the last rank. Sleeps for PAUSE milliseconds before each step. */
#include <unistd.h>

#include "own_sums.h"

#define NEIGHBOURS 26

static int neighbours[NEIGHBOURS];

static void find_neighbours(MPI_Comm grid) {
  int here[3], there[3], rank, found = 0, at[3];
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 3, here);
  for (at[0] = -1; at[0] <= 1; ++at[0])
    for (at[1] = -1; at[1] <= 1; ++at[1])
      for (at[2] = -1; at[2] <= 1; ++at[2]) {
        int i;
        if (at[0] == 0 && at[1] == 0 && at[2] == 0) continue;
        for (i = 0; i < 3; ++i) there[i] = here[i] + at[i];
        MPI_Cart_rank(grid, there, &neighbours[found++]);
      }
}

/* What neighbour i sends reaches it as its own neighbour 25 - i. */
static double exchange(MPI_Comm grid, double mine) {
  double in[NEIGHBOURS], sum = 0;
  MPI_Request requests[2 * NEIGHBOURS];
  int i;
  for (i = 0; i < NEIGHBOURS; ++i)
    IN_MPI(MPI_Irecv(&in[i], 1, MPI_DOUBLE, neighbours[i], NEIGHBOURS - 1 - i, grid, &requests[i]));
  for (i = 0; i < NEIGHBOURS; ++i)
    IN_MPI(MPI_Isend(&mine, 1, MPI_DOUBLE, neighbours[i], i, grid, &requests[NEIGHBOURS + i]));
  IN_MPI(MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE));
  for (i = 0; i < NEIGHBOURS; ++i) sum += in[i];
  return sum / NEIGHBOURS;
}

int main(int argc, char** argv) {
  const int steps = atoi(argv[1]), code = argc > 3 ? atoi(argv[3]) : 0, pause_ms = argc > 4 ? atoi(argv[4]) : 0;
  int shape[3] = {0, 0, 0}, periodic[3] = {1, 1, 1}, rank, size, step;
  double mine, all = 0;
  MPI_Comm grid;
  MPI_Init(&argc, &argv);
  own_sums_begin();
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 3, shape);
  IN_MPI(MPI_Cart_create(MPI_COMM_WORLD, 3, shape, periodic, 0, &grid));
  MPI_Comm_rank(grid, &rank);
  find_neighbours(grid);
  dice_state = (unsigned)atoi(argv[2]) + 7919u * (unsigned)rank;
  mine = rank;
  IN_MPI(MPI_Bcast(&all, 1, MPI_DOUBLE, 0, grid));
  for (step = 0; step < steps; ++step) {
    if (pause_ms > 0) usleep(1000u * (unsigned)pause_ms);
    work();
    mine = 0.5 * mine + 0.5 * exchange(grid, mine) + step;
    IN_MPI(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid));
  }
  own_sums_end();
  MPI_Comm_free(&grid);
  if (rank == 0) printf("sum %.17g after %d steps\n", all, steps);
  fflush(stdout); /* a launcher may end the others as soon as one rank has ended with a code of its own */
  MPI_Finalize();
  own_sums_write(rank);
  return rank == size - 1 ? code : 0;
}
