/* Threads that live shortly, four at a time: each sends itself so many messages (MPI_THREAD_MULTIPLE). Usage: waves WAVES MESSAGES */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static int messages;

static void* send_to_oneself(void* tag) {
  const int own = *(const int*)tag;
  int out = 1, in, i;
  for (i = 0; i < messages; ++i)
    MPI_Sendrecv(&out, 1, MPI_INT, 0, own, &in, 1, MPI_INT, 0, own, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  int provided, waves, i;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  messages = atoi(argv[2]);
  for (waves = atoi(argv[1]); waves > 0; --waves) {
    pthread_t threads[4];
    int tags[4];
    for (i = 0; i < 4; ++i) {
      tags[i] = i;
      pthread_create(&threads[i], NULL, send_to_oneself, &tags[i]);
    }
    for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  }
  MPI_Finalize();
  return 0;
}
