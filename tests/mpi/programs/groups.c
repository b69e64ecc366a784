/* Communicators and requests as programs have them that are odd, or wrong. Usage: groups MODE TIMES
 *   inter       messages between two groups, and collectives of both
 *   spawn       two children of a world of their own, and messages to them
 *   pending     a communicator is freed while a message from anybody is on its way in it
 *   busy        another thread frees a communicator and a datatype while the main one sends or receives in it
 *   fetch       what others have is read by MPI_Rget_accumulate with MPI_NO_OP, whose own data no library looks at
 *   twice       communicators and requests are freed a second time, and used after that; errors return
 *   growth      communicators are made and freed as often, each with one barrier; the memory that is taken is written at the end */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, times;

/* Even ranks on one side, odd ones on the other; ranks of a side are numbered from the last to the first. */
static long between_groups(void) {
  MPI_Comm half, both;
  long sum = 0, out, in, most;
  int i, sides, mine, others;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, size - rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? (size - 1) / 2 * 2 : size / 2 * 2 - 1, 5, &both);
  MPI_Comm_remote_size(both, &others);
  MPI_Comm_rank(both, &mine);
  MPI_Comm_size(both, &sides);
  for (i = 0; i < times; ++i) {
    out = 100 * rank + i;
    MPI_Sendrecv(&out, 1, MPI_LONG, mine, 0, &in, 1, MPI_LONG, mine, 0, both, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &most, 1, MPI_LONG, MPI_MAX, both);
    MPI_Barrier(both);
    sum += in + most;
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  return sum * (others == sides);
}

static long among_spawned(MPI_Comm parent) {
  long out = rank + 1, in = 0;
  int i;
  for (i = 0; i < times; ++i) MPI_Allreduce(&out, &in, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (parent == MPI_COMM_NULL) return 0;
  MPI_Send(&in, 1, MPI_LONG, 0, 7, parent);
  MPI_Barrier(parent);
  MPI_Comm_disconnect(&parent);
  return in;
}

static long with_children(char** argv) {
  MPI_Comm children;
  char* arguments[] = {"child", argv[2], NULL};
  long in, sum = 0;
  int i;
  MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  for (i = 0; i < 2 && rank == 0; ++i) {
    MPI_Recv(&in, 1, MPI_LONG, i, 7, children, MPI_STATUS_IGNORE);
    sum += in;
  }
  MPI_Barrier(children);
  MPI_Comm_disconnect(&children);
  for (i = 0; i < times; ++i) MPI_Barrier(MPI_COMM_WORLD);
  return sum;
}

static long free_twice(void) {
  int i, failed = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (i = 0; i < times; ++i) {
    MPI_Comm other;
    MPI_Request request = MPI_REQUEST_NULL, first;
    long out = 1, in = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_free(&other);
    failed += MPI_Comm_free(&other) != MPI_SUCCESS; /* the handle is null now */
    failed += MPI_Send(&out, 1, MPI_LONG, rank, 0, other) != MPI_SUCCESS;
    failed += MPI_Barrier(other) != MPI_SUCCESS;
    MPI_Send_init(&out, 1, MPI_LONG, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Recv(&in, 1, MPI_LONG, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    failed += MPI_Request_free(&request) != MPI_SUCCESS;
    failed += MPI_Start(&request) != MPI_SUCCESS;
    MPI_Irecv(&in, 1, MPI_LONG, rank, 0, MPI_COMM_WORLD, &first);
    MPI_Cancel(&first);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    MPI_Wait(&first, MPI_STATUS_IGNORE); /* none, which is allowed */
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return failed;
}

static long pages_taken(void) {
  long all, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2) exit(99);
  fclose(file);
  return resident;
}

/* The first hundred are let go by: libraries make room then. */
static long make_and_free(void) {
  long before = 0, grown;
  int i;
  for (i = 0; i < times; ++i) {
    MPI_Comm other;
    if (i == 100) before = pages_taken();
    MPI_Comm_dup(MPI_COMM_SELF, &other);
    MPI_Barrier(other);
    MPI_Comm_free(&other);
  }
  grown = pages_taken() - before;
  if (getenv("OWN_FILES") != NULL) {
    char path[4096];
    FILE* file;
    snprintf(path, sizeof path, "%s/grown.%d", getenv("OWN_FILES"), rank);
    file = fopen(path, "w");
    if (file == NULL) exit(99);
    fprintf(file, "%ld\n", grown * sysconf(_SC_PAGESIZE));
    fclose(file);
  }
  return times;
}

static long receive_in_freed(void) {
  long sum = 0;
  for (int i = 0; i < times; ++i) {
    MPI_Comm comm;
    MPI_Request requests[2];
    MPI_Status status;
    long in = 0, out = rank + i;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&in, 1, MPI_LONG, MPI_ANY_SOURCE, 7, comm, &requests[0]);
    MPI_Isend(&out, 1, MPI_LONG, (rank + 1) % size, 7, comm, &requests[1]);
    MPI_Comm_free(&comm);
    MPI_Wait(&requests[0], &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    sum += in;
  }
  return sum;
}

static long fetch(void) {
  long *own, in = 0, sum = 0;
  MPI_Win window;
  MPI_Request request;
  MPI_Win_allocate(sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
  *own = 1000 + rank;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < times; ++i) {
    MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, window);
    MPI_Rget_accumulate(NULL, 0, MPI_DATATYPE_NULL, &in, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, MPI_NO_OP,
                        window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock((rank + 1) % size, window);
    sum += in;
  }
  MPI_Win_free(&window);
  return sum;
}

struct Handles {
  MPI_Comm comm;
  MPI_Datatype type;
};

static void* free_them(void* handles) {
  struct Handles* its = handles;
  usleep(50000); /* the other thread is in its call by then */
  MPI_Comm_free(&its->comm);
  MPI_Type_free(&its->type);
  return NULL;
}

static long exchange_in_freed(int i) {
  struct Handles handles;
  int data[19] = {0};
  pthread_t thread;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &handles.comm); /* another order than the world's */
  MPI_Type_vector(10, 1, 2, MPI_INT, &handles.type);
  MPI_Type_commit(&handles.type);
  if (rank == 0) {
    const struct Handles its = handles;
    data[0] = i;
    pthread_create(&thread, NULL, free_them, &handles);
    if (i % 2 == 0)
      MPI_Ssend(data, 1, its.type, 0, 0, its.comm);
    else
      MPI_Recv(data, 1, its.type, MPI_ANY_SOURCE, 0, its.comm, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    return data[0];
  }
  usleep(150000); /* so that rank 0 waits until its handles are freed */
  data[0] = 10 * i;
  if (i % 2 == 0)
    MPI_Recv(data, 1, handles.type, 1, 0, handles.comm, MPI_STATUS_IGNORE);
  else
    MPI_Ssend(data, 1, handles.type, 1, 0, handles.comm);
  MPI_Comm_free(&handles.comm);
  MPI_Type_free(&handles.type);
  return data[0];
}

static long exchange_beside_who_frees(void) {
  long sum = 0;
  int i;
  for (i = 0; i < times; ++i) sum += exchange_in_freed(i);
  return sum;
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  MPI_Comm parent;
  long sum = 0;
  int threads = 0;
  times = atoi(argv[2]);
  if (strcmp(mode, "busy") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&parent);
  if (strcmp(mode, "child") == 0) sum = among_spawned(parent);
  if (strcmp(mode, "inter") == 0) sum = between_groups();
  if (strcmp(mode, "spawn") == 0) sum = with_children(argv);
  if (strcmp(mode, "pending") == 0) sum = receive_in_freed();
  if (strcmp(mode, "busy") == 0) sum = exchange_beside_who_frees();
  if (strcmp(mode, "fetch") == 0) sum = fetch();
  if (strcmp(mode, "twice") == 0) sum = free_twice();
  if (strcmp(mode, "growth") == 0) sum = make_and_free();
  if (rank == 0) printf("%s: %ld\n", mode, sum);
  MPI_Finalize();
  return 0;
}
