/* The messages of molecular dynamics in a box that repeats itself, on a ring of ranks: in a step the atoms of the neighbours come
 * and the forces on them go back, with both neighbours one after the other; now and then all atoms are sent anew instead of the
 * former, when lists of neighbours are built. Usage: dynamics STEPS EVERY SEED */
#include "own_sums.h"

static int rank, size;

static int from(int swap) { return (rank + (swap ? size - 1 : 1)) % size; }
static int to(int swap) { return (rank + (swap ? 1 : size - 1)) % size; }

static double bring_atoms(double mine) {
  double sum = 0, in = 0;
  int swap;
  for (swap = 0; swap < 2; ++swap) {
    MPI_Request request;
    IN_MPI(MPI_Irecv(&in, 1, MPI_DOUBLE, from(swap), 0, MPI_COMM_WORLD, &request));
    IN_MPI(MPI_Send(&mine, 1, MPI_DOUBLE, to(swap), 0, MPI_COMM_WORLD));
    IN_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    sum += in;
  }
  return sum / 2;
}

static double bring_forces(double mine) {
  double sum = 0, in = 0;
  int swap;
  for (swap = 1; swap >= 0; --swap) {
    MPI_Request request;
    IN_MPI(MPI_Irecv(&in, 1, MPI_DOUBLE, to(swap), 1, MPI_COMM_WORLD, &request));
    IN_MPI(MPI_Send(&mine, 1, MPI_DOUBLE, from(swap), 1, MPI_COMM_WORLD));
    IN_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    sum += in;
  }
  return sum / 2;
}

/* How many there are, and then these. */
static double build_lists(double mine) {
  double sum = 0, in = 0;
  int swap, count = 1, theirs;
  for (swap = 0; swap < 2; ++swap) {
    MPI_Request request;
    IN_MPI(MPI_Sendrecv(&count, 1, MPI_INT, to(swap), 2, &theirs, 1, MPI_INT, from(swap), 2, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    IN_MPI(MPI_Irecv(&in, theirs, MPI_DOUBLE, from(swap), 3, MPI_COMM_WORLD, &request));
    IN_MPI(MPI_Send(&mine, count, MPI_DOUBLE, to(swap), 3, MPI_COMM_WORLD));
    IN_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    sum += in;
  }
  return sum / 2;
}

int main(int argc, char** argv) {
  const int steps = atoi(argv[1]), every = atoi(argv[2]);
  double at, force;
  int step;
  MPI_Init(&argc, &argv);
  own_sums_begin();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  dice_state = (unsigned)atoi(argv[3]) + 7919u * (unsigned)rank;
  at = rank;
  force = bring_forces(build_lists(at));
  for (step = 1; step <= steps; ++step) {
    at += 0.1 * force + (step % every ? bring_atoms(at) : build_lists(at));
    work();
    at /= 2;
    force = bring_forces(at);
  }
  own_sums_end();
  MPI_Finalize();
  own_sums_write(rank);
  if (rank == 0) printf("at %.17g after %d steps\n", at, steps);
  return 0;
}
