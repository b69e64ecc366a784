// A program that reports a few steps, for tests of what stands around it. Usage: reporter STEPS [MICROSECONDS-A-STEP
// [RANK SIZE]]. With REPORTER_FILES in its environment it may have no descriptor above that number.
#include <idlewave/probe.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static void sleep_us(long us) {
  struct timespec span = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&span, NULL);
}

static void take_descriptors_away(void) {
  const char* files = getenv("REPORTER_FILES");
  const struct rlimit limit = {files ? (rlim_t)atoi(files) : 0, files ? (rlim_t)atoi(files) : 0};
  if (files != NULL) setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char** argv) {
  take_descriptors_away();
  const int steps = argc > 1 ? atoi(argv[1]) : 20;
  const long step_us = argc > 2 ? atol(argv[2]) : 10000;
  idlewave_start(argc > 4 ? atoi(argv[3]) : 0, argc > 4 ? atoi(argv[4]) : 1);
  for (int step = 0; step < steps; ++step) {
    idlewave_step(step);
    idlewave_switch(IDLEWAVE_COMPUTE);
    sleep_us(step_us * 3 / 4);
    idlewave_switch(IDLEWAVE_WAIT);
    sleep_us(step_us / 4);
  }
  idlewave_stop();
  return 0;
}
