// iw-soak-ranks RANKS SECONDS EVENTS-A-SECOND FILE: ranks that report so many events a second all together, and nothing
// else; how many that were stands in FILE afterwards, counted by the ranks themselves. Without MPI: what is tried is
// what lies behind the probe.
#include <idlewave/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_A_STEP = 4, MOST_AT_ONCE = 120 };

typedef struct {
  long steps;
} Count;

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/// No traffic is declared: the agent would add events of its own, and what is compared in the end are those of the
/// ranks.
static void report_step(long step) {
  idlewave_step(step);
  idlewave_switch(IDLEWAVE_COMPUTE);
  idlewave_switch(IDLEWAVE_COMMUNICATE);
  idlewave_switch(IDLEWAVE_WAIT);
}

/// Behind its time a rank hurries, but stays below the 100,000 events a second from which it is told in sums: what is
/// compared in the end is every single event.
static void rank_life(int rank, int ranks, double seconds, double steps_a_second, Count* count) {
  const struct timespec nap = {0, 10 * 1000 * 1000};
  if (!idlewave_start(rank, ranks)) _exit(1);
  const double begin = seconds_of(CLOCK_MONOTONIC);
  for (double now = 0; now < seconds; now = seconds_of(CLOCK_MONOTONIC) - begin) {
    const long due = (long)(now * steps_a_second);
    for (int at_once = 0; count->steps < due && at_once < MOST_AT_ONCE; ++at_once) report_step(count->steps++);
    nanosleep(&nap, NULL);
  }
  idlewave_stop();
  _exit(0);
}

int main(int argc, char** argv) {
  if (argc != 5) return fprintf(stderr, "usage: iw-soak-ranks RANKS SECONDS EVENTS-A-SECOND FILE\n"), 2;
  const int ranks = atoi(argv[1]);
  const double seconds = atof(argv[2]), steps_a_second = atof(argv[3]) / ranks / EVENTS_A_STEP;
  Count* counts = mmap(NULL, (size_t)ranks * sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (ranks < 1 || counts == MAP_FAILED) return 2;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child < 0) return perror("iw-soak-ranks: fork"), 1;
    if (child == 0) rank_life(rank, ranks, seconds, steps_a_second, &counts[rank]);
  }
  int failed = 0, status = 0;
  while (wait(&status) > 0) failed += status != 0;
  long steps = 0;
  for (int rank = 0; rank < ranks; ++rank) steps += counts[rank].steps;
  FILE* file = fopen(argv[4], "w");
  if (!file) return perror(argv[4]), 1;
  fprintf(file, "ranks %d\nsteps %ld\nevents %ld\nfailed %d\n", ranks, steps, EVENTS_A_STEP * steps + 2L * ranks,
          failed);
  return fclose(file) == 0 && failed == 0 ? 0 : 1;
}
