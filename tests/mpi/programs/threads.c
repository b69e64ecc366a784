/* Threads of a rank that call MPI at the same time (MPI_THREAD_MULTIPLE), by the interfaces of C and Fortran; the main one waits for them
 * without MPI. Usage: threads THREADS ROUNDS [own]; each thread has a communicator of its own, and in each round works, calls
 * MPI_Sendrecv and MPI_Isend, MPI_Recv, MPI_Wait with its neighbours, and MPI_BARRIER. What MPI_Sendrecv sends is of a type of so many
 * items, each time another; with a third argument of one that is made for it and freed behind it. Each rank writes into $OWN_SUMS/RANK a
 * line for each thread: seconds in MPI, and in all; bytes that it has sent to the rank after it, and to the one before. Exit code 1: not
 * what was sent. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_THREADS 64
#define MOST_ITEMS 50

extern void mpi_barrier_(MPI_Fint* comm, MPI_Fint* error);

static int rank, size, rounds, wrong, own_types;
static MPI_Datatype of_items[MOST_ITEMS];
static MPI_Comm comms[MOST_THREADS];
static double in_mpi[MOST_THREADS], in_all[MOST_THREADS];
static long to_next[MOST_THREADS], to_before[MOST_THREADS];

static MPI_Datatype type_of(int items) {
  MPI_Datatype made;
  MPI_Type_contiguous(items, MPI_INT, &made);
  MPI_Type_commit(&made);
  return made;
}

static void* exchange(void* place) {
  const int number = (int)((MPI_Comm*)place - comms);
  MPI_Comm comm = comms[number];
  double began = 0;
  MPI_Fint of_fortran = MPI_Comm_c2f(comm), error;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int round, there;
  for (round = 0; round < rounds; ++round) {
    MPI_Request request;
    MPI_Datatype several;
    const int items = 1 + (7 * round + 3 * number) % MOST_ITEMS;
    int mine[MOST_ITEMS], theirs[MOST_ITEMS], i;
    for (i = 0; i < items; ++i) mine[i] = rank;
    several = own_types ? type_of(items) : of_items[items - 1];
    const double work_over = MPI_Wtime();
    if (round == 0) began = work_over;
    MPI_Sendrecv(mine, 1, several, next, 0, theirs, 1, several, before, 0, comm, MPI_STATUS_IGNORE);
    if (theirs[items - 1] != before) wrong = 1;
    to_next[number] += items * (long)sizeof rank;
    to_before[number] += (long)sizeof rank;
    MPI_Isend(&rank, 1, MPI_INT, before, 1, comm, &request);
    MPI_Recv(&there, 1, MPI_INT, next, 1, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (there != next) wrong = 1;
    mpi_barrier_(&of_fortran, &error);
    in_all[number] = MPI_Wtime() - began;
    in_mpi[number] += MPI_Wtime() - work_over;
    if (own_types) MPI_Type_free(&several);
    usleep(1000u * (1u + (unsigned)(rank + number) % 4u));
  }
  return NULL;
}

static void write_sums(int threads) {
  char path[4096];
  FILE* file;
  int i;
  if (getenv("OWN_SUMS") == NULL) return;
  snprintf(path, sizeof path, "%s/%d", getenv("OWN_SUMS"), rank);
  file = fopen(path, "w");
  if (file == NULL) exit(99);
  for (i = 0; i < threads; ++i) fprintf(file, "%.9f %.9f %ld %ld\n", in_mpi[i], in_all[i], to_next[i], to_before[i]);
  fclose(file);
}

int main(int argc, char** argv) {
  const int threads = atoi(argv[1]);
  pthread_t thread[MOST_THREADS];
  int provided, i;
  rounds = atoi(argv[2]);
  own_types = argc > 3;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE || threads > MOST_THREADS) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (i = 0; i < MOST_ITEMS; ++i) of_items[i] = type_of(i + 1);
  for (i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, exchange, &comms[i]);
  for (i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
  for (i = 0; i < MOST_ITEMS; ++i) MPI_Type_free(&of_items[i]);
  for (i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  write_sums(threads);
  return wrong;
}
