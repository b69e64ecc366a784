/* MPI out of handlers. Usage: handlers MODE STEPS
 *   atexit      what is to run at the program's end exchanges messages, and ends MPI
 *   destructor  the same, as a function that the linker has run there
 *   alarm       a timer's handler asks for the time and for messages, wherever it meets the program
 *   other-stack the same, on a stack of its own
 *   leap        the handler leaves by siglongjmp, wherever it meets the program's own computing */
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const char* mode;
static int rank, size, steps;
static volatile long asked;
static volatile sig_atomic_t may_leap;
static sigjmp_buf before;

static int is(const char* name) { return strcmp(mode, name) == 0; }

static long exchange(int count) {
  long sum = 0;
  int step;
  for (step = 0; step < count; ++step) {
    long out = rank + step, in = 0;
    MPI_Sendrecv(&out, 1, MPI_LONG, (rank + 1) % size, 0, &in, 1, MPI_LONG, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sum += in;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  }
  return sum;
}

static void end_it(void) {
  const long sum = exchange(steps);
  if (rank == 0) printf("%s: %ld at the end\n", mode, sum);
  MPI_Finalize();
}

__attribute__((destructor)) static void end_late(void) {
  if (mode != NULL && is("destructor")) end_it();
}

/* Only calls that a library without a lock survives in a handler: it asks for a tag that nobody sends, on a communicator of its own. */
static MPI_Comm of_handler;
static void ask(int number) {
  int there = 0;
  (void)number;
  (void)MPI_Wtime();
  ++asked;
  if (is("leap")) {
    if (may_leap) siglongjmp(before, 1);
    return;
  }
  if (may_leap) MPI_Iprobe(MPI_ANY_SOURCE, 77, of_handler, &there, MPI_STATUS_IGNORE);
}

/* Blocked before MPI_Init, so that no thread of the library gets it. */
static void let_alarm(int how) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(how, &alarm, NULL);
}

static void begin_to_ask(void) {
  const struct itimerval often = {{0, 200}, {0, 200}};
  static char stack[1 << 16];
  const stack_t other = {stack, 0, sizeof stack};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = ask;
  action.sa_flags = SA_RESTART | (is("other-stack") ? SA_ONSTACK : 0);
  sigaltstack(&other, NULL);
  sigaction(SIGALRM, &action, NULL);
  let_alarm(SIG_UNBLOCK);
  setitimer(ITIMER_REAL, &often, NULL);
}

static void end_to_ask(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
}

/* Calls as fast as they come, so that a handler meets the program at every place there is. */
static long call_often(void) {
  volatile int turn; /* lives on after a leap */
  MPI_Request request;
  long out = 1, in = 0;
  static long sum;
  begin_to_ask();
  for (turn = 0; turn < 100 * steps; ++turn) {
    if (is("leap") && sigsetjmp(before, 1) == 0) {
      volatile int i;
      may_leap = 1;
      for (i = 0; i < 1000; ++i) continue;
    }
    may_leap = !is("leap");
    MPI_Irecv(&in, 1, MPI_LONG, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_LONG, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum += in;
  }
  end_to_ask();
  return sum;
}

int main(int argc, char** argv) {
  long sum = 0;
  let_alarm(SIG_BLOCK);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &of_handler);
  mode = argv[1];
  steps = atoi(argv[2]);
  if (is("atexit")) atexit(end_it);
  if (is("alarm") || is("other-stack") || is("leap")) sum = call_often();
  sum += exchange(steps);
  if (rank == 0) printf("%s: %ld%s\n", mode, sum, asked > 0 ? ", and was asked" : "");
  if (is("atexit") || is("destructor")) return 0;
  MPI_Finalize();
  return 0;
}
