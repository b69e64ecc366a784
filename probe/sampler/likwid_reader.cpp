// SPDX-License-Identifier: Apache-2.0
// idlewave-likwid-reader: reads memory counters through liblikwid and prints what they say.
//
// This source is under the Apache License 2.0 like the rest of idlewave. The built program is linked to liblikwid,
// which is under the GNU General Public License 3, so the built program is under that licence. It is a process of its
// own for this reason, and because liblikwid prints, forks an access daemon and may end its process. Nothing of
// idlewave but this file knows LIKWID.
//
//   idlewave-likwid-reader [--group NAME] DOMAIN:PROCESSOR...      one processor of each domain
//
// Prints lines to its standard output until it is ended or nobody reads any more:
//   group NAME                      the counters run; NAME is LIKWID's group (several joined by +)
//   sample DOMAIN SECONDS BYTES     BYTES were moved in the last SECONDS; about every 200 ms for each domain
//   error REASON                    one line: why there are no figures, and what to ask for; then it exits with 1
// Whatever liblikwid prints is thrown away.

#include <fcntl.h>
#include <likwid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr double kInterval = 0.2;       // s; LIKWID reads too high below 0.1 s
constexpr double kHighestRate = 10e12;  // bytes/s in one domain; no memory comes near
constexpr int kNonsenseLimit = 5;       // figures in a row that can't be true before we give up

struct Place {
  int domain = 0;
  int processor = 0;
};

/// One LIKWID group that is set up, and which of its metrics is the bandwidth in MByte/s.
struct Group {
  std::string name;
  int id = -1;
  int metric = -1;
};

struct Reading {
  double seconds = 0;
  std::vector<double> bytes;  // by place
};

FILE* g_answers = nullptr;          // what was our standard output before liblikwid could print to it
const char* g_stage = "its start";  // for the case that liblikwid ends the process
pid_t g_self = 0;

[[noreturn]] void give_up(const std::string& reason) {
  fprintf(g_answers, "error %s\n", reason.c_str());
  fflush(g_answers);
  _exit(EXIT_FAILURE);
}

void tell_of_sudden_end() {
  if (getpid() == g_self) give_up(std::string("liblikwid ended its process in ") + g_stage);
}

/// Keeps the standard output for ourselves and gives liblikwid nothing to print to.
void shield_output() {
  const int answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = open("/dev/null", O_RDWR);
  if (answers < 0 || nothing < 0) _exit(EXIT_FAILURE);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  g_answers = fdopen(answers, "w");
  if (g_answers == nullptr) _exit(EXIT_FAILURE);
  g_self = getpid();
  atexit(tell_of_sudden_end);
}

/// Stops LIKWID's access daemon and collects what was forked, then gives up.
[[noreturn]] void finish_and_give_up(const std::string& reason) {
  perfmon_finalize();
  while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
  give_up(reason);
}

bool parse_place(const char* word, Place& place) {
  int used = 0;
  return sscanf(word, "%d:%d%n", &place.domain, &place.processor, &used) == 2 && word[used] == '\0' &&
         place.domain >= 0 && place.processor >= 0;
}

std::string with_code(const char* function, int code) {
  std::string text = std::string(function) + " " + std::to_string(code);
  if (code < -1) text += std::string(": ") + strerror(-code);
  return text;
}

std::string architecture() {
  const CpuInfo_t cpu = get_cpuInfo();
  return cpu != nullptr && cpu->name != nullptr ? cpu->name : "this processor";
}

std::string no_access(const char* function, int code) {
  return "no access to MSR/uncore counters (" + with_code(function, code) +
         "): ask the administrator for the access daemon likwid-accessD setuid root with the msr module loaded, or for "
         "perf_event_paranoid <= 0; "
         "most virtual machines have no such counters";
}

/// LIKWID counts the traffic of a whole socket on one of its processors, so two domains of one socket can't be told
/// apart.
void check_sockets(const std::vector<Place>& places) {
  const CpuTopology_t topology = get_cpuTopology();
  if (topology == nullptr || topology->threadPool == nullptr)
    give_up("liblikwid does not know this machine's processors");
  std::map<unsigned, int> owner;
  for (const Place& place : places) {
    const HWThread* begin = topology->threadPool;
    const HWThread* end = begin + topology->numHWThreads;
    const HWThread* thread =
        std::find_if(begin, end, [&](const HWThread& t) { return int(t.apicId) == place.processor; });
    if (thread == end) give_up("liblikwid does not know processor " + std::to_string(place.processor));
    const auto [first, is_new] = owner.emplace(thread->packageId, place.domain);
    if (!is_new) {
      give_up("memory is counted for socket " + std::to_string(thread->packageId) +
              " as a whole, not for its domains " + std::to_string(first->second) + " and " +
              std::to_string(place.domain));
    }
  }
}

void open_library(const std::vector<Place>& places) {
  g_stage = "topology_init";
  if (const int code = topology_init(); code != 0)
    give_up("processor not supported (" + with_code("topology_init", code) + ")");
  g_stage = "numa_init";
  if (const int code = numa_init(); code != 0)
    give_up("memory domains not found (" + with_code("numa_init", code) + ")");
  g_stage = "affinity_init";
  affinity_init();
  check_sockets(places);
  g_stage = "perfmon_init; likwid-accessD may be missing: ask the administrator to install it setuid root";
  std::vector<int> processors;
  for (const Place& place : places) processors.push_back(place.processor);
  const int code = perfmon_init(int(processors.size()), processors.data());
  while (waitpid(-1, nullptr, WNOHANG) > 0) continue;  // an access daemon that refused to work
  if (code != 0) give_up(no_access("perfmon_init", code));
}

/// Those that LIKWID has for this architecture, and the user's own in ~/.likwid.
std::vector<std::string> known_groups() {
  g_stage = "perfmon_getGroups";
  char** names = nullptr;
  char** shorts = nullptr;
  char** longs = nullptr;
  const int count = perfmon_getGroups(&names, &shorts, &longs);
  std::vector<std::string> found(names, names + std::max(count, 0));
  if (count > 0) perfmon_returnGroups(count, names, shorts, longs);
  std::sort(found.begin(), found.end());
  return found;
}

/// "MEM" first, then whatever else this architecture calls by such a name.
std::vector<std::string> memory_groups() {
  std::vector<std::string> found = known_groups();
  std::erase_if(found, [](const std::string& name) { return !name.starts_with("MEM"); });
  return found;
}

std::string listed(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

int find_metric(int group, const char* beginning) {
  const int count = perfmon_getNumberOfMetrics(group);
  for (int i = 0; i < count; ++i) {
    const char* name = perfmon_getMetricName(group, i);
    if (name != nullptr && strncmp(name, beginning, strlen(beginning)) == 0) return i;
  }
  return -1;
}

/// Which the user has chosen.
Group group_called(const std::string& name) {
  const std::vector<std::string> known = known_groups();
  if (std::find(known.begin(), known.end(), name) == known.end())
    finish_and_give_up("there is no group " + name + " for " + architecture() + "; there are " + listed(known));
  g_stage = "perfmon_addEventSet";
  const int id = perfmon_addEventSet(name.c_str());
  if (id < 0) finish_and_give_up(no_access("perfmon_addEventSet", id));
  const int metric = find_metric(id, "Memory bandwidth");
  if (metric < 0)
    finish_and_give_up("group " + name + " has no metric of memory bandwidth; those for it are " +
                       listed(memory_groups()));
  return {name, id, metric};
}

/// The group that counts all memory channels of a domain; where the architecture has too few counters for that (Zen 3:
/// MEM1, MEM2), the groups that together do, each of which then counts for its share of the interval.
std::vector<Group> choose_groups(const std::string& wanted) {
  if (!wanted.empty()) return {group_called(wanted)};
  std::vector<Group> parts;
  const std::vector<std::string> names = memory_groups();
  int refused = 0;
  for (const std::string& name : names) {
    g_stage = "perfmon_addEventSet";
    const int id = perfmon_addEventSet(name.c_str());
    if (id < 0) {
      refused = id;
      continue;
    }
    if (const int metric = find_metric(id, "Memory bandwidth [MBytes/s]"); metric >= 0) return {{name, id, metric}};
    if (const int metric = find_metric(id, "Memory bandwidth (channels"); metric >= 0)
      parts.push_back({name, id, metric});
  }
  if (!parts.empty()) return parts;
  if (refused < 0) finish_and_give_up(no_access("perfmon_addEventSet", refused));
  finish_and_give_up("no group of events for memory bandwidth on " + architecture());
}

void must(const char* function, int code) {
  g_stage = function;
  if (code != 0) finish_and_give_up("the memory counters can't be used (" + with_code(function, code) + ")");
}

void run_group(const Group& group) {
  must("perfmon_setupCounters", perfmon_setupCounters(group.id));
  must("perfmon_startCounters", perfmon_startCounters());
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

void sleep_for(double seconds) {
  timespec left{time_t(seconds), long(1e9 * (seconds - std::floor(seconds)))};
  while (nanosleep(&left, &left) != 0) continue;
}

/// Lets the groups count in turn, each for its share of one interval, and adds up their rates. The first one runs at
/// entry and at return.
Reading read_counters(const std::vector<Group>& groups, std::size_t places) {
  Reading reading;
  std::vector<double> rate(places, 0.0);
  const double began = now();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    sleep_for(kInterval / double(groups.size()));
    if (groups.size() == 1) {
      must("perfmon_readCounters", perfmon_readCounters());
    } else {
      must("perfmon_stopCounters", perfmon_stopCounters());
    }
    reading.seconds += perfmon_getLastTimeOfGroup(groups[i].id);
    for (std::size_t place = 0; place < places; ++place) {
      rate[place] += 1e6 * perfmon_getLastMetric(groups[i].id, groups[i].metric, int(place));
    }
    if (groups.size() > 1) run_group(groups[(i + 1) % groups.size()]);
  }
  const double elapsed = now() - began;
  // LIKWID's own clock has to agree roughly with ours, or its rates mean nothing.
  if (!(reading.seconds > 0.5 * elapsed && reading.seconds < 2 * elapsed)) reading.seconds = 0;
  for (const double r : rate) reading.bytes.push_back(r * reading.seconds);
  return reading;
}

/// Why the reading can't be true; empty if it can.
std::string nonsense(const Reading& reading) {
  if (!(reading.seconds > 0)) return "LIKWID's time does not advance as the clock does";
  double sum = 0;
  for (const double bytes : reading.bytes) {
    if (!std::isfinite(bytes)) return "the memory counters give no number";
    if (bytes < 0) return "the memory counters run backwards";
    if (bytes > kHighestRate * reading.seconds) return "the memory counters tell more than any memory can move";
    sum += bytes;
  }
  // Not one byte on any domain: a running system always moves some, but LIKWID leaves out counters that it may not
  // read.
  if (sum <= 0) return "the memory counters stand still, so they are not accessible";
  return {};
}

[[noreturn]] void read_for_ever(const std::vector<Place>& places, const std::string& wanted) {
  const std::vector<Group> groups = choose_groups(wanted);
  run_group(groups.front());
  std::string names = groups.front().name;
  for (std::size_t i = 1; i < groups.size(); ++i) names += "+" + groups[i].name;
  fprintf(g_answers, "group %s\n", names.c_str());
  fflush(g_answers);
  for (int in_a_row = 0;;) {
    const Reading reading = read_counters(groups, places.size());
    const std::string objection = nonsense(reading);
    in_a_row = objection.empty() ? 0 : in_a_row + 1;
    if (in_a_row == kNonsenseLimit) finish_and_give_up("group " + names + ": " + objection);
    if (!objection.empty()) continue;
    for (std::size_t i = 0; i < places.size(); ++i) {
      fprintf(g_answers, "sample %d %.6f %.0f\n", places[i].domain, reading.seconds, reading.bytes[i]);
    }
    if (fflush(g_answers) != 0) _exit(EXIT_FAILURE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_chosen = argc > 2 && strcmp(argv[1], "--group") == 0;
  const std::string wanted = is_chosen ? argv[2] : "";
  const int first = is_chosen ? 3 : 1;
  std::vector<Place> places(std::size_t(std::max(argc - first, 0)));
  bool understood = !places.empty();
  for (std::size_t i = 0; i < places.size(); ++i)
    understood = understood && parse_place(argv[std::size_t(first) + i], places[i]);
  if (!understood) {
    fprintf(stderr, "usage: idlewave-likwid-reader [--group NAME] DOMAIN:PROCESSOR...\n");
    return 2;
  }
  shield_output();
  open_library(places);
  read_for_ever(places, wanted);
}
