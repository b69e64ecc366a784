/* Threads of a rank that call MPI at the same time (MPI_THREAD_MULTIPLE), by the interfaces of C and Fortran; the main one waits for them
 * without MPI. Usage: threads THREADS ROUNDS; each thread has a communicator of its own, and calls in each round MPI_Sendrecv and
 * MPI_Isend, MPI_Recv, MPI_Wait with its neighbours, and MPI_BARRIER. Exit code 1: not what was sent. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#define MOST_THREADS 64

extern void mpi_barrier_(MPI_Fint* comm, MPI_Fint* error);

static int rank, size, rounds, wrong;
static MPI_Comm comms[MOST_THREADS];

static void* exchange(void* place) {
  MPI_Comm comm = *(MPI_Comm*)place;
  MPI_Fint of_fortran = MPI_Comm_c2f(comm), error;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int round, there;
  for (round = 0; round < rounds; ++round) {
    MPI_Request request;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &there, 1, MPI_INT, before, 0, comm, MPI_STATUS_IGNORE);
    if (there != before) wrong = 1;
    MPI_Isend(&rank, 1, MPI_INT, before, 1, comm, &request);
    MPI_Recv(&there, 1, MPI_INT, next, 1, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (there != next) wrong = 1;
    mpi_barrier_(&of_fortran, &error);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = atoi(argv[1]);
  pthread_t thread[MOST_THREADS];
  int provided, i;
  rounds = atoi(argv[2]);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE || threads > MOST_THREADS) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, exchange, &comms[i]);
  for (i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
  for (i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return wrong;
}
