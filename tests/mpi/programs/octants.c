/* Sweeps over a grid of ranks from its corners, as codes of radiation transport make them: eight octants in an order of the seed,
 * one after the other or all at once, each of many blocks that a rank takes up when those before it in that direction have handed
 * on theirs. Blocks become fewer, as groups of energies converge. Behind each sweep all meet, in a communicator of the program's
 * own. Usage: octants in-turn|at-once SWEEPS SEED */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OCTANTS = 8, LENGTH = 100 };

static MPI_Comm comm, grid;
static unsigned dice_state;
static double heard[OCTANTS][2][LENGTH], told[OCTANTS][2][LENGTH];
static MPI_Request receives[2 * OCTANTS], sends[2 * OCTANTS];

static unsigned dice(unsigned below) { return (dice_state = dice_state * 1664525u + 1013904223u) / 65536u % below; }

/* Towards higher ranks on that axis of the grid, or towards lower ones. */
static int goes_up(int octant, int axis) { return octant >> axis & 1; }
static int neighbour(int octant, int axis, int is_behind) {
  int before, behind;
  MPI_Cart_shift(grid, axis, goes_up(octant, axis) ? 1 : -1, &before, &behind);
  return is_behind ? behind : before;
}

static double work(int octant) {
  double sum = 0;
  int axis, i;
  for (axis = 0; axis < 2; ++axis)
    for (i = 0; i < LENGTH; ++i) {
      told[octant][axis][i] = 0.4 * (heard[octant][0][i] + heard[octant][1][i]) + 1;
      sum += told[octant][axis][i];
    }
  return sum;
}

static void start_send(int octant, int axis) {
  const int to = neighbour(octant, axis, 1);
  if (to != MPI_PROC_NULL)
    MPI_Isend(told[octant][axis], LENGTH, MPI_DOUBLE, to, octant, grid, &sends[2 * octant + axis]);
}
static void start_receive(int octant, int axis) {
  const int from = neighbour(octant, axis, 0);
  if (from != MPI_PROC_NULL)
    MPI_Irecv(heard[octant][axis], LENGTH, MPI_DOUBLE, from, octant, grid, &receives[2 * octant + axis]);
}
static void receive(int octant, int axis) {
  const int from = neighbour(octant, axis, 0);
  if (from != MPI_PROC_NULL) MPI_Recv(heard[octant][axis], LENGTH, MPI_DOUBLE, from, octant, grid, MPI_STATUS_IGNORE);
}

static double sweep_in_turn(const int* order, int blocks) {
  double sum = 0;
  int i, block, axis;
  for (i = 0; i < OCTANTS; ++i)
    for (block = 0; block < blocks; ++block) {
      for (axis = 0; axis < 2; ++axis) receive(order[i], axis);
      MPI_Waitall(2 * OCTANTS, sends, MPI_STATUSES_IGNORE);
      sum += work(order[i]);
      for (axis = 0; axis < 2; ++axis) start_send(order[i], axis);
    }
  return sum;
}

static int are_over(const MPI_Request* requests, int octant) {
  return requests[2 * octant] == MPI_REQUEST_NULL && requests[2 * octant + 1] == MPI_REQUEST_NULL;
}

static double sweep_at_once(const int* order, int blocks) {
  int left[OCTANTS], done[2 * OCTANTS], all = OCTANTS * blocks, count, i, axis;
  double sum = 0;
  for (i = 0; i < OCTANTS; ++i) {
    left[i] = blocks;
    for (axis = 0; axis < 2; ++axis) start_receive(i, axis);
  }
  while (all > 0) {
    MPI_Testsome(2 * OCTANTS, receives, &count, done, MPI_STATUSES_IGNORE);
    MPI_Testsome(2 * OCTANTS, sends, &count, done, MPI_STATUSES_IGNORE);
    for (i = 0; i < OCTANTS; ++i) {
      const int octant = order[i];
      if (left[octant] == 0 || !are_over(receives, octant) || !are_over(sends, octant)) continue;
      sum += work(octant);
      for (axis = 0; axis < 2; ++axis) start_send(octant, axis);
      if (--left[octant] > 0)
        for (axis = 0; axis < 2; ++axis) start_receive(octant, axis);
      --all;
      break;
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  const int is_at_once = strcmp(argv[1], "at-once") == 0, sweeps = atoi(argv[2]);
  int size, rank, sides[2] = {0, 0}, periods[2] = {0, 0}, order[OCTANTS], sweep, i;
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  MPI_Dims_create(size, 2, sides);
  MPI_Cart_create(comm, 2, sides, periods, 0, &grid);
  dice_state = (unsigned)atoi(argv[3]);
  for (i = 0; i < OCTANTS; ++i) {
    const int other = (int)dice((unsigned)i + 1);
    order[i] = order[other];
    order[other] = i;
  }
  for (i = 0; i < 2 * OCTANTS; ++i) receives[i] = sends[i] = MPI_REQUEST_NULL;
  for (sweep = 0; sweep < sweeps; ++sweep) {
    const int blocks = sweep < 6 ? 30 + (int)dice(30) : 4 + (int)dice(20);
    const double mine = is_at_once ? sweep_at_once(order, blocks) : sweep_in_turn(order, blocks);
    double all;
    MPI_Waitall(2 * OCTANTS, sends, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    sum += all;
  }
  if (rank == 0) printf("%.17g\n", sum);
  MPI_Finalize();
  return 0;
}
