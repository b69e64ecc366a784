/* A program that has functions of its own by names of the C library, which no MPI calls when they are not there. Usage: own_names STEPS;
 * a step is an exchange in a ring. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Whoever calls it by the name that the linker knows takes it for the other one. */
#define OWN(name)                                                          \
  int own_##name(void) __asm__(#name);                                     \
  int own_##name(void) {                                                   \
    fprintf(stderr, "the program's own " #name " was called by others\n"); \
    _exit(70);                                                             \
  }

OWN(clone)
OWN(flock)
OWN(fmin)
OWN(log)
OWN(lstat)
OWN(realpath)
OWN(rename)
OWN(sched_getcpu)
#ifdef MPICH_VERSION
OWN(mkdir)
OWN(poll)
OWN(readlink)
OWN(recv)
OWN(send)
#endif

int main(int argc, char** argv) {
  int rank, size, step, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (step = 0; step < atoi(argv[1]); ++step)
    MPI_Sendrecv(&step, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  printf("rank %d got %d\n", rank, got);
  MPI_Finalize();
  return 0;
}
