// Calls that are refused, whose error a handler of the program takes back: they return 0, and nothing of what they were given or left is
// to be looked at. Then one message to the next rank. Usage: forgiving WHAT HANDLERS
//   WHAT      types: those that are no types; all: also addresses that are none, which some libraries don't survive
//   HANDLERS  one: for each kind of object; many: forty more before
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, times;

static void forgive(int* error) {
  ++times;
  *error = MPI_SUCCESS;
}
static void of_comm(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  forgive(error);
}
static void of_win(MPI_Win* win, int* error, ...) {
  (void)win;
  forgive(error);
}
static void of_file(MPI_File* file, int* error, ...) {
  (void)file;
  forgive(error);
}

#define UNUSED(n) \
  static void unused_##n(MPI_Comm* comm, int* error, ...) { *error += n + (comm == NULL); }
#define TEN_UNUSED(n) \
  UNUSED(n##0)        \
  UNUSED(n##1)        \
  UNUSED(n##2)        \
  UNUSED(n##3)        \
  UNUSED(n##4)        \
  UNUSED(n##5)        \
  UNUSED(n##6)        \
  UNUSED(n##7)        \
  UNUSED(n##8)        \
  UNUSED(n##9)
TEN_UNUSED(1)
TEN_UNUSED(2)
TEN_UNUSED(3)
TEN_UNUSED(4)
#define TEN(n)                                                                                             \
  unused_##n##0, unused_##n##1, unused_##n##2, unused_##n##3, unused_##n##4, unused_##n##5, unused_##n##6, \
      unused_##n##7, unused_##n##8, unused_##n##9
static MPI_Comm_errhandler_function* const unused[] = {TEN(1), TEN(2), TEN(3), TEN(4)};

static void make_many(void) {
  for (unsigned i = 0; i < sizeof unused / sizeof *unused; ++i) {
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(unused[i], &made);
    MPI_Errhandler_free(&made);
  }
}

static void say(const char* call, int result) {
  if (rank == 0) printf("%s: %d, handlers have run %d times\n", call, result, times);
  fflush(stdout);
}

// On a communicator that is forgiving, beside the world that is not.
static void try_types(MPI_Comm comm) {
  int out[4] = {0}, in[4];
  MPI_Request request;
  say("MPI_Send", MPI_Send(out, 1, MPI_DATATYPE_NULL, rank, 0, comm));
  say("MPI_Sendrecv",
      MPI_Sendrecv(out, 1, MPI_INT, rank, 0, in, 1, MPI_DATATYPE_NULL, rank, 0, comm, MPI_STATUS_IGNORE));
  say("MPI_Isend", MPI_Isend(out, 1, MPI_DATATYPE_NULL, rank, 0, comm, &request));
  say("MPI_Send_init", MPI_Send_init(out, 1, MPI_DATATYPE_NULL, rank, 0, comm, &request));
  say("MPI_Bcast", MPI_Bcast(out, 1, MPI_DATATYPE_NULL, 0, comm));
}

static void try_window(void) {
  int word = 0;
  MPI_Win win;
  MPI_Errhandler handler;
  MPI_Win_create(&word, sizeof word, sizeof word, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_create_errhandler(of_win, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Errhandler_free(&handler);
  MPI_Win_fence(0, win);
  say("MPI_Put", MPI_Put(&word, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void try_file(void) {
  int word = 0;
  MPI_File file;
  MPI_Errhandler handler;
  MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_create_errhandler(of_file, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  say("MPI_File_write_at", MPI_File_write_at(file, 0, &word, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE));
  MPI_File_close(&file);
}

// With the world forgiving too.
static void try_places(void) {
  enum { kUntouched = 77777777 };
  int word = 0, done = kUntouched, places[4] = {0}, flag = kUntouched;
  MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[4];
  say("MPI_Waitsome", MPI_Waitsome(-1, requests, &done, places, statuses));
  say("MPI_Testsome", MPI_Testsome(4, NULL, &done, places, statuses));
  say("MPI_Waitany", MPI_Waitany(4, NULL, &done, statuses));
  say("MPI_Test", MPI_Test(NULL, &flag, statuses));
  say("MPI_Start", MPI_Start(NULL));
  say("MPI_Startall", MPI_Startall(3, NULL));
  say("MPI_Isend", MPI_Isend(&word, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, NULL));
  say("MPI_Recv", MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_NULL, statuses));
  say("MPI_Barrier", MPI_Barrier(MPI_COMM_NULL));
}

int main(int count, char** words) {
  int out = 1, in = 0;
  MPI_Comm forgiving;
  MPI_Errhandler handler;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(words[2], "many") == 0) make_many();
  MPI_Comm_dup(MPI_COMM_WORLD, &forgiving);
  MPI_Comm_create_errhandler(of_comm, &handler);
  MPI_Comm_set_errhandler(forgiving, handler);
  try_types(forgiving);
  try_window();
  try_file();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  if (strcmp(words[1], "all") == 0) try_places();
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, forgiving,
               MPI_STATUS_IGNORE);
  MPI_Comm_free(&forgiving);
  MPI_Finalize();
  return in != out;
}
