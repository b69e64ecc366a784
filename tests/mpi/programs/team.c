/* An OpenMP program with MPI that knows nothing of us: a region of all threads, a stretch of one, a barrier of all ranks, over and
 * over. With a third argument each thread of the region works longer than the one before. Prints what the ranks measured of themselves,
 * all together: seconds in regions, alone, and in MPI, and how long threads worked in regions: the main one until a region ends. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void rest(int milliseconds) { usleep((unsigned)milliseconds * 1000u); }

int main(int argc, char **argv) {
  const int steps = atoi(argv[1]), threads = atoi(argv[2]);
  int rank, provided;
  double in_region = 0, alone = 0, in_mpi = 0, busy = 0, sums[4];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < steps; ++step) {
    const double begin = MPI_Wtime();
#pragma omp parallel num_threads(threads) reduction(+ : busy)
    {
      const double work_began = MPI_Wtime();
      rest(argc > 3 ? 4 * omp_get_thread_num() : 12);
#pragma omp parallel num_threads(2)
      rest(2);
      if (omp_get_thread_num() > 0) busy += MPI_Wtime() - work_began;
    }
    const double region_over = MPI_Wtime();
    busy += region_over - begin;
    rest(rank == 0 ? 4 : 10);
    const double work_over = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    in_region += region_over - begin, alone += work_over - region_over, in_mpi += MPI_Wtime() - work_over;
  }
  MPI_Reduce((double[]){in_region, alone, in_mpi, busy}, sums, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f %.6f %.6f %.6f\n", sums[0], sums[1], sums[2], sums[3]);
  MPI_Finalize();
  return argc < 3 ? 1 : 0;
}
