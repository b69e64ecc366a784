/* Linked into the programs of the tests, and loaded into those of ours. Ranks that wait poll: Open MPI's leave the processor to others
   between two looks that found nothing (mpi_yield_when_idle), and so do those of MPICH 5, those of MPICH 4 do not. Where there are more
   ranks than cores each message would take MPICH turns of the scheduler, and whatever else runs would wait for those who only look on.
   Here who has looked in vain for a while sleeps a moment before it looks again. Calls of MPI's libraries come here first, since the
   program, or what is loaded before them, stands before them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WHILE_NS = 20000, NAP_NS = 50000 };

static __thread long long waits_since, last_look;

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void leave_the_processor(void) {
  const long long now = now_ns();
  if (now - last_look > WHILE_NS) waits_since = now; /* Something else was done since. */
  if (now - waits_since < WHILE_NS) {
    syscall(SYS_sched_yield);
  } else {
    const struct timespec nap = {0, NAP_NS};
    nanosleep(&nap, NULL);
  }
  last_look = now_ns();
}

int sched_yield(void) {
  leave_the_processor();
  return 0;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*of_library)(void*); /* The same whichever thread looks it up. */
  unsigned events;
  if (of_library == NULL) of_library = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  events = of_library(worker);
  if (events == 0) {
    leave_the_processor();
  } else {
    last_look = 0;
  }
  return events;
}
