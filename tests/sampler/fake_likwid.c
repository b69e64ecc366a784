/* Stands in for liblikwid.so under the real idlewave-likwid-reader: the same functions, with the behaviour that
 * FAKE_LIKWID names. Without a name it counts 1000 MByte/s on the first socket, 2000 on the second, and so on, each on
 * the first processor of it that it was given, and what is_of_processor() says on each processor. */
#define _GNU_SOURCE
#include <likwid.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define PROCESSORS 1024

static HWThread threads[PROCESSORS];
static CpuTopology topology = {.numHWThreads = PROCESSORS, .activeHWThreads = PROCESSORS, .threadPool = threads};
static CpuInfo info = {.name = "Pretended processor", .short_name = "pretended"};
static int given[PROCESSORS]; /* by LIKWID's number of a thread */
static int given_count = 0;
struct group {
  const char *name;
  const char *metrics[8];
};
static const struct group known_groups[] = {
    {"MEM", {"Runtime (RDTSC) [s]", "Memory bandwidth [MBytes/s]"}},
    {"MEM_DP",
     {"Runtime (RDTSC) [s]", "Energy [J]", "Power [W]", "CPI", "DP [MFLOP/s]", "Memory bandwidth [MBytes/s]",
      "Memory data volume [GBytes]"}},
    {"FLOPS_DP", {"Runtime (RDTSC) [s]", "Clock [MHz]", "CPI", "DP [MFLOP/s]", "Vectorization ratio"}},
    {"MEM1", {"Runtime (RDTSC) [s]", "Memory bandwidth (channels 0-3) [MBytes/s]"}},
    {"MEM2", {"Runtime (RDTSC) [s]", "Memory bandwidth (channels 4-7) [MBytes/s]"}},
    {"L2", {"Runtime (RDTSC) [s]", "L2 bandwidth [MBytes/s]"}},
};
static const struct group *group_of[8];
static int groups = 0;
static int active = 0;
static double started = 0;
static double last_time = 0;
static int readings = 0;

static int is(const char *behaviour) {
  const char *chosen = getenv("FAKE_LIKWID");
  return chosen != NULL && strcmp(chosen, behaviour) == 0;
}

static int number_after(const char *beginning, int otherwise) {
  const char *chosen = getenv("FAKE_LIKWID");
  if (chosen == NULL || strncmp(chosen, beginning, strlen(beginning)) != 0) return otherwise;
  return atoi(chosen + strlen(beginning));
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

EXPORT int topology_init(void) {
  for (unsigned i = 0; i < PROCESSORS; ++i)
    threads[i] = (HWThread){.apicId = i, .packageId = is("one socket") ? 0 : i / 2, .inCpuSet = 1};
  if (is("garbage")) {
    puts("sample 0 0.2 666");
    fprintf(stderr, "ERROR - something [src/x.c:1]\n");
    fflush(stdout);
  }
  return number_after("topology ", 0);
}
EXPORT int numa_init(void) { return number_after("numa ", 0); }
/// Of no value before LIKWID 5.4, of an int since.
EXPORT __typeof__(affinity_init()) affinity_init(void) { return (__typeof__(affinity_init()))0; }
EXPORT CpuTopology_t get_cpuTopology(void) { return &topology; }
EXPORT CpuInfo_t get_cpuInfo(void) { return &info; }

EXPORT int perfmon_init(int count, const int *processors) {
  for (given_count = 0; given_count < count && given_count < PROCESSORS; ++given_count)
    given[given_count] = processors[given_count];
  if (is("hang")) pause();
  if (is("hang stubbornly")) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;) sleep(1);
  }
  if (is("crash")) abort();
  if (is("exit")) exit(EXIT_FAILURE);
  if (is("daemon")) {
    /* A child that outlives nothing, as an access daemon that has no right. */
    if (fork() == 0) _exit(1);
    usleep(50000);
    return -13;
  }
  if (is("slow daemon")) {
    /* One that goes into the background, and finds out that it has no right when nobody talks to it any more. */
    int ends[2];
    char said;
    if (pipe(ends) == 0 && fork() == 0) {
      setsid();
      if (fork() != 0) _exit(0);
      close(ends[1]);
      _exit(read(ends[0], &said, 1) == 0 ? 1 : 0);
    }
    close(ends[0]);
    return -13;
  }
  return number_after("init ", 0);
}
EXPORT void perfmon_finalize(void) {}

static char *standard_groups[] = {"L2", "MEM_DP", "MEM", "FLOPS_DP"};
static char *zen3_groups[] = {"L3", "MEM2", "MEM1"};
static char *other_groups[] = {"L2", "FLOPS_DP"};

EXPORT int perfmon_getGroups(char ***names, char ***shorts, char ***longs) {
  if (is("groups fail")) return -2;
  *names = is("two groups") ? zen3_groups : is("no group") ? other_groups : standard_groups;
  *shorts = *longs = *names;
  return is("two groups") ? 3 : is("no group") ? 2 : 4;
}
EXPORT void perfmon_returnGroups(int count, char **names, char **shorts, char **longs) {
  (void)count, (void)names, (void)shorts, (void)longs;
}

EXPORT int perfmon_addEventSet(const char *name) {
  const int code = number_after("add ", 0);
  if (code < 0) return code;
  const struct group *found = known_groups;
  while (strcmp(found->name, name) != 0) ++found;
  /* Where none has a metric for it, all are as one that counts something else. */
  group_of[groups] = is("no metric") ? &known_groups[5] : found;
  return groups++;
}
EXPORT int perfmon_getNumberOfMetrics(int group) {
  int count = 0;
  while (count < 8 && group_of[group]->metrics[count] != NULL) ++count;
  return count;
}
EXPORT char *perfmon_getMetricName(int group, int metric) { return (char *)group_of[group]->metrics[metric]; }

EXPORT int perfmon_setupCounters(int group) {
  active = group;
  return number_after("setup ", 0);
}
EXPORT int perfmon_startCounters(void) {
  started = now();
  return number_after("start ", 0);
}
static void end_interval(void) {
  last_time = now() - started;
  started = now();
  ++readings;
}
EXPORT int perfmon_stopCounters(void) {
  end_interval();
  return 0;
}
EXPORT int perfmon_readCounters(void) {
  end_interval();
  if (is("fail later") && readings == 3) return -4;
  if (is("crash later") && readings == 3) raise(SIGSEGV);
  if (is("hang later") && readings == 3) pause();
  return number_after("read ", 0);
}
EXPORT double perfmon_getLastTimeOfGroup(int group) {
  (void)group;
  return is("no time") ? 0 : is("wrong time") ? 1000 : last_time;
}
/* How many sockets come before the thread's; -1: another thread counts for its socket. */
static int counts_for(int thread) {
  int before = 0;
  for (int i = 0; i < thread; ++i) {
    if (threads[given[i]].packageId == threads[given[thread]].packageId) return -1;
    int is_new = 1;
    for (int j = 0; j < i; ++j) is_new = is_new && threads[given[j]].packageId != threads[given[i]].packageId;
    before += is_new;
  }
  return before;
}

static double is_of_processor(const char *metric, int processor) {
  if (strcmp(metric, "Clock [MHz]") == 0) return processor % 2 == 0 ? 2000 : 0;
  if (strcmp(metric, "CPI") == 0) return processor + 0.5;
  if (strcmp(metric, "DP [MFLOP/s]") == 0) return 100 * (processor + 1);
  return NAN;
}

EXPORT double perfmon_getLastMetric(int group, int metric, int thread) {
  const char *name = group_of[group]->metrics[metric];
  if (group != active) return NAN; /* asked for a group that did not run */
  if (is("nan")) return NAN;
  if (is("infinite")) return INFINITY;
  if (is("negative")) return -5;
  if (is("absurd")) return 20e6;
  if (is("zero")) return 0;
  if (is("one bad reading") && readings == 2) return NAN;
  const int socket = counts_for(thread);
  if (strncmp(name, "Memory bandwidth", 16) == 0) return socket < 0 ? 0 : 1000.0 * (socket + 1);
  if (strcmp(name, "Power [W]") == 0) return socket < 0 ? 0 : 50.0 * (socket + 1);
  return is_of_processor(name, given[thread]);
}
