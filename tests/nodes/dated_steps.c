// A rank that says on stdout by the wall clock, which all nodes of one machine share, when each of its steps began: the truth that
// tests of clocks compare with. Usage: dated_steps STEPS MICROSECONDS-A-STEP RANK SIZE
#include <idlewave/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long wall_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 5) return fputs("usage: dated_steps STEPS MICROSECONDS-A-STEP RANK SIZE\n", stderr), 2;
  const int steps = atoi(argv[1]), rank = atoi(argv[3]);
  const long step_us = atol(argv[2]);
  const struct timespec length = {step_us / 1000000, step_us % 1000000 * 1000};
  idlewave_start(rank, atoi(argv[4]));
  for (int step = 0; step < steps; ++step) {
    // Whoever lost its processor between two readings dates the step too roughly.
    const long long before = wall_ns();
    idlewave_step(step);
    const long long after = wall_ns();
    printf("%d %d %lld %lld\n", rank, step, before, after);
    idlewave_switch(IDLEWAVE_COMPUTE);
    nanosleep(&length, NULL);
    idlewave_switch(IDLEWAVE_WAIT);
  }
  idlewave_stop();
  return 0;
}
