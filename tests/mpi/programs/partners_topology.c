/* With the neighbours of a topology, each of which sends to its neighbours; whether it waits for those it sends to as well is known
 * of small messages, and makes no difference where they are the same. */
#include "partners.h"

static void say_sources(const int* from, int count) { say_wait(from, count, NULL, 0, 0); }

/* A ring, and a chain whose ends have one neighbour. */
static void along_lines(void) {
  const int round[] = {1}, open[] = {0}, both[] = {left, right};
  const int below = rank > 0 ? rank - 1 : right, above = rank < size - 1 ? rank + 1 : left, in_chain[] = {below, above};
  MPI_Comm ring, chain;
  int i;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, round, 0, &ring);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, open, 0, &chain);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Neighbor_alltoall(out, SOME, MPI_CHAR, in[0], SOME, MPI_CHAR, ring);
    work();
    MPI_Neighbor_allgather(out, FEW, MPI_CHAR, in[0], FEW, MPI_CHAR, chain);
  }
  say_sources(both, 2);
  if (rank == 0)
    say_sources(&above, 1);
  else
    say_sources(in_chain, rank == size - 1 ? 1 : 2);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&chain);
}

/* From the left, to the right; and back, as ranks of a communicator in another order. */
static void one_way(void) {
  const int before = size - 1 - left, behind = size - 1 - right;
  MPI_Comm turned, up, down;
  MPI_Request request;
  int i;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &up);
  MPI_Dist_graph_create_adjacent(turned, 1, &behind, &size, 1, &before, &size, MPI_INFO_NULL, 0, &down);
  MPI_Comm_free(&turned);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Neighbor_alltoall(out, FEW, MPI_CHAR, in[0], FEW, MPI_CHAR, up);
    MPI_Ineighbor_alltoall(out, FEW, MPI_CHAR, in[0], FEW, MPI_CHAR, down, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  say_sources(&left, 1);
  say_sources(&right, 1);
  MPI_Comm_free(&up);
  MPI_Comm_free(&down);
}

/* All of them have rank 0, which has all. */
static void star(void) {
  MPI_Comm graph;
  int index[64], edges[128], counts[64], places[64], i;
  for (i = 0; i < size; ++i) index[i] = size - 1 + i, counts[i] = FEW, places[i] = 0;
  for (i = 0; i < size - 1; ++i) edges[i] = i + 1, edges[size - 1 + i] = 0;
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Neighbor_alltoallv(out, counts, places, MPI_CHAR, in[0], counts, places, MPI_CHAR, graph);
  }
  say_sources(rank == 0 ? all_ranks + 1 : all_ranks, rank == 0 ? size - 1 : 1);
  MPI_Comm_free(&graph);
}

const struct mode of_topology[] = {
    {"along-lines", along_lines}, {"one-way-graph", one_way}, {"star", star}, {NULL, NULL}};
