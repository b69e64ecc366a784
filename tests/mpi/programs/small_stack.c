/* A thread with little stack does everything. Usage: small_stack KB STEPS */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static int steps;

static void* run(void* unused) {
  int step, rank, all;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (step = 0; step < steps; ++step) MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return unused;
}

int main(int argc, char** argv) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (argc < 3) return 2;
  steps = atoi(argv[2]);
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)atoi(argv[1]) << 10) != 0) return 3;
  if (pthread_create(&thread, &attributes, run, NULL) != 0) return 4;
  return pthread_join(thread, NULL);
}
