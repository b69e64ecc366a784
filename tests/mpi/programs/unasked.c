// What an MPI library takes, or refuses, without looking at arguments that a tool might ask it about: whoever asks makes it abort. One
// word says what is tried: empty, nothing, between, asked. By two ranks or more; `between` by four.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void say(const char* call, int refused) {
  if (rank == 0) printf("%s: %s\n", call, refused ? "refused" : "taken");
  fflush(stdout);
}

// No items, of no datatype.
static void send_nothing(void) {
  const MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Request request;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Sendrecv(NULL, 0, type, next, 0, NULL, 0, type, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Isend(NULL, 0, type, next, 1, MPI_COMM_WORLD, &request);
  MPI_Recv(NULL, 0, type, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send_init(NULL, 0, type, next, 2, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Recv(NULL, 0, type, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  say("nothing at all", 0);
}

static void try_empty(void) {
  static char large[1 << 20];
  // Once a send was seen to wait, the sizes of receives are looked at.
  MPI_Request request;
  MPI_Isend(large, sizeof large, MPI_CHAR, (rank + 1) % size, 9, MPI_COMM_WORLD, &request);
  usleep(50000);
  char* other = malloc(sizeof large);
  MPI_Recv(other, sizeof large, MPI_CHAR, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(other);
  send_nothing();
}

static void try_nothing(void) {
  int flag, place;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  say("MPI_Wait", MPI_Wait(NULL, MPI_STATUS_IGNORE));
  say("MPI_Waitall", MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
  say("MPI_Waitany", MPI_Waitany(2, NULL, &place, MPI_STATUS_IGNORE));
  say("MPI_Test", MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
  say("MPI_Testall", MPI_Testall(2, NULL, &flag, MPI_STATUSES_IGNORE));
  say("MPI_Cancel", MPI_Cancel(NULL));
}

// Of those beside the root of another group nothing but the root's place counts (MPI 4.0, 6.9.1).
static void try_between(void) {
  MPI_Comm half, between;
  MPI_Request request;
  const int mine = rank < 2;
  int value = rank, sum = 0;
  MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, mine ? 2 : 0, 0, &between);
  for (int started = 0; started < 2; ++started) {
    const int root = !mine ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    const MPI_Datatype type = root == MPI_PROC_NULL ? MPI_DATATYPE_NULL : MPI_INT;
    if (started) {
      MPI_Ireduce(&value, &sum, 1, type, MPI_SUM, root, between, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Reduce(&value, &sum, 1, type, MPI_SUM, root, between);
    }
    if (rank == 0) printf("sum %d\n", sum);
  }
}

// Steps in which one looks at requests between waits that take as often as it takes.
static void try_asked(void) {
  const int other = rank ^ 1;
  int in[4], out[4];
  srand(rank + 1);
  for (int step = 0; step < 300 && other < size; ++step) {
    MPI_Request requests[8];
    for (int i = 0; i < 4; ++i) MPI_Irecv(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 4; ++i) {
      out[i] = i;
      MPI_Isend(&out[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[4 + i]);
      if (rand() % 2) usleep(rand() % 400);
    }
    for (int left = 8, done, flag, places[8]; left > 0; left -= done) {
      MPI_Waitsome(8, requests, &done, places, MPI_STATUSES_IGNORE);
      for (int i = 0; i < 8; ++i) {
        if (requests[i] == MPI_REQUEST_NULL) continue;
        MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        break;
      }
    }
    usleep(1500);
  }
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = count > 1 ? words[1] : "";
  if (strcmp(what, "empty") == 0) try_empty();
  if (strcmp(what, "nothing") == 0) try_nothing();
  if (strcmp(what, "between") == 0) try_between();
  if (strcmp(what, "asked") == 0) try_asked();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
