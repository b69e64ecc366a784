// SPDX-License-Identifier: Apache-2.0
// idlewave-likwid-reader: reads memory counters, and whatever else a group counts, through liblikwid and prints what they
// say.
//
// This source is under the Apache License 2.0 like the rest of idlewave. The built program is linked to liblikwid,
// which is under the GNU General Public License 3, so the built program is under that licence. It is a process of its
// own for this reason, and because liblikwid prints, forks an access daemon and may end its process. Nothing of
// idlewave but this file knows LIKWID.
//
//   idlewave-likwid-reader [--group NAME] DOMAIN:PROCESSOR,...     processors of each domain, apart by commas
//
// A domain's memory traffic is counted on the first of its processors. With a group that was chosen, what that group
// counts beside is told of all of them; where it does not count memory traffic, it takes turns with the groups that do.
//
// Prints lines to its standard output until it is ended or nobody reads any more:
//   group NAME                      the counters run; NAME is LIKWID's group (several joined by +)
//   sample DOMAIN SECONDS BYTES     BYTES were moved in the last SECONDS; about every 200 ms for each domain
//   no-memory REASON                one line: why there are no samples
//   meter DOMAIN PLACE NAME         metric PLACE of the chosen group, as LIKWID calls it, with its unit in brackets
//   reading DOMAIN PLACE VALUE      what it was in the last interval; "none" where there is no value
//   error REASON                    one line: why there are no figures, and what to ask for; then it exits with 1
// Whatever liblikwid prints is thrown away.

#include <fcntl.h>
#include <likwid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr double kInterval = 0.2;       // s; LIKWID reads too high below 0.1 s
constexpr double kHighestRate = 10e12;  // bytes/s in one domain; no memory comes near
constexpr int kMostDescriptors = 1024;
constexpr double kPatienceForDaemon = 1;  // s
constexpr int kNonsenseLimit = 5;         // figures in a row that can't be true before we give up

struct Place {
  int domain = 0;
  std::vector<int> processors;
  int first_thread = 0;  // LIKWID's number of the first of them; the others follow
};

/// One LIKWID group that is set up, and which of its metrics is the bandwidth in MByte/s; none: -1.
struct Group {
  std::string name;
  int id = -1;
  int metric = -1;
};

/// What processors of a domain are together.
enum class Together { kSum, kMean, kMeanOfRunning };

/// A metric of the chosen group that is told as it is.
struct Metric {
  int place = 0;
  std::string name;
  Together together = Together::kMean;
};

/// What is counted: the groups that take turns, of which the first is the chosen one, if one was.
struct Plan {
  std::vector<Group> groups;
  std::vector<Metric> metrics;
  std::string why_no_memory;  // empty: it is counted
};

struct Reading {
  double seconds = 0;
  std::vector<double> bytes;                // by place
  std::vector<std::vector<double>> metric;  // by place and metric; NaN where there is no value
};

FILE* g_answers = nullptr;          // what was our standard output before liblikwid could print to it
const char* g_stage = "its start";  // for the case that liblikwid ends the process
pid_t g_self = 0;

void sleep_for(double seconds) {
  timespec left{time_t(seconds), long(1e9 * (seconds - std::floor(seconds)))};
  while (nanosleep(&left, &left) != 0) continue;
}

/// LIKWID's access daemon leaves who has started it, and is then our child, as we take in orphans. One that outlived us
/// would be the child of whoever does so above the ranks, as their launcher in a container, and that it failed would be
/// taken for the program's failure. It goes when nobody talks to it any more.
void see_daemon_off() {
  for (int fd = STDERR_FILENO + 1; fd < kMostDescriptors; ++fd)
    if (fd != fileno(g_answers)) close(fd);
  constexpr double kLook = 0.001;
  pid_t ended = 0;
  for (double waited = 0; (ended = waitpid(-1, nullptr, WNOHANG)) >= 0 && waited < kPatienceForDaemon;) {
    if (ended > 0) continue;
    sleep_for(kLook);
    waited += kLook;
  }
}

[[noreturn]] void give_up(const std::string& reason) {
  see_daemon_off();  // Whoever reads the reason may end us.
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

/// Stops LIKWID's access daemon, then gives up.
[[noreturn]] void finish_and_give_up(const std::string& reason) {
  perfmon_finalize();
  give_up(reason);
}

bool parse_place(const char* word, Place& place) {
  int used = 0;
  if (sscanf(word, "%d%n", &place.domain, &used) != 1 || place.domain < 0) return false;
  for (char before = ':'; word[used] == before; before = ',') {
    int processor = 0, length = 0;
    if (sscanf(word + used + 1, "%d%n", &processor, &length) != 1 || processor < 0) return false;
    place.processors.push_back(processor);
    used += 1 + length;
  }
  return !place.processors.empty() && word[used] == '\0';
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
        std::find_if(begin, end, [&](const HWThread& t) { return int(t.apicId) == place.processors.front(); });
    if (thread == end) give_up("liblikwid does not know processor " + std::to_string(place.processors.front()));
    const auto [first, is_new] = owner.emplace(thread->packageId, place.domain);
    if (!is_new) {
      give_up("memory is counted for socket " + std::to_string(thread->packageId) +
              " as a whole, not for its domains " + std::to_string(first->second) + " and " +
              std::to_string(place.domain));
    }
  }
}

/// `all_processors`: of each domain, else its first alone.
void open_library(std::vector<Place>& places, bool all_processors) {
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
  for (Place& place : places) {
    if (!all_processors) place.processors.resize(1);
    place.first_thread = int(processors.size());
    processors.insert(processors.end(), place.processors.begin(), place.processors.end());
  }
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
  return {name, id, find_metric(id, "Memory bandwidth")};
}

/// The group that counts all memory channels of a domain; where the architecture has too few counters for that (Zen 3:
/// MEM1, MEM2), the groups that together do, each of which then counts for its share of the interval. None: `why_not`.
std::vector<Group> groups_for_memory(std::string& why_not) {
  std::vector<Group> parts;
  int refused = 0;
  for (const std::string& name : memory_groups()) {
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
  why_not = refused < 0 ? no_access("perfmon_addEventSet", refused)
                        : "no group of events for memory bandwidth on " + architecture();
  return parts;
}

bool has_ending(const std::string& text, const std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return text.ends_with(ending); });
}

/// All but the bandwidth, which is told as such, and what is an amount of one interval, of which there is the rate beside.
/// Rates and power of a domain are the sum over its processors (what belongs to the socket is counted on one of them), all
/// else is their mean, as LIKWID's own statistics have it; clocks and temperatures that are 0 are of nobody.
std::vector<Metric> metrics_of(const Group& group) {
  std::vector<Metric> metrics;
  const int count = perfmon_getNumberOfMetrics(group.id);
  for (int place = 0; place < count; ++place) {
    const char* name = perfmon_getMetricName(group.id, place);
    if (name == nullptr || place == group.metric) continue;
    const std::string words(name);
    if (has_ending(words, {"[s]", "[J]", "[Bytes]", "[kBytes]", "[MBytes]", "[GBytes]"})) continue;
    metrics.push_back({place, words,
                       has_ending(words, {"/s]", "[W]"})     ? Together::kSum
                       : has_ending(words, {"[MHz]", "[C]"}) ? Together::kMeanOfRunning
                                                             : Together::kMean});
  }
  return metrics;
}

Plan plan_for(const std::string& wanted) {
  Plan plan;
  if (!wanted.empty()) {
    plan.groups.push_back(group_called(wanted));
    plan.metrics = metrics_of(plan.groups.front());
    if (plan.groups.front().metric >= 0) return plan;
  }
  const std::vector<Group> memory = groups_for_memory(plan.why_no_memory);
  if (memory.empty() && plan.metrics.empty()) finish_and_give_up(plan.why_no_memory);
  if (!memory.empty()) plan.why_no_memory.clear();
  plan.groups.insert(plan.groups.end(), memory.begin(), memory.end());
  return plan;
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

/// Of a domain in the group that has just counted; NaN where none of its processors has a value.
double value_of(const Group& group, const Metric& metric, const Place& place) {
  double sum = 0;
  int with_value = 0;
  for (int i = 0; i < int(place.processors.size()); ++i) {
    const double value = perfmon_getLastMetric(group.id, metric.place, place.first_thread + i);
    const bool is_one =
        std::isfinite(value) && value >= 0 && (value > 0 || metric.together != Together::kMeanOfRunning);
    if (!is_one) continue;
    sum += value;
    ++with_value;
  }
  if (with_value == 0) return std::numeric_limits<double>::quiet_NaN();
  return metric.together == Together::kSum ? sum : sum / with_value;
}

/// Lets the groups count in turn, each for its share of one interval, and adds up their rates. The first one runs at
/// entry and at return.
Reading read_counters(const Plan& plan, const std::vector<Place>& places) {
  Reading reading;
  const std::vector<Group>& groups = plan.groups;
  std::vector<double> rate(places.size(), 0.0);
  const double began = now();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    sleep_for(kInterval / double(groups.size()));
    if (groups.size() == 1) {
      must("perfmon_readCounters", perfmon_readCounters());
    } else {
      must("perfmon_stopCounters", perfmon_stopCounters());
    }
    reading.seconds += perfmon_getLastTimeOfGroup(groups[i].id);
    for (std::size_t place = 0; place < places.size() && groups[i].metric >= 0; ++place)
      rate[place] += 1e6 * perfmon_getLastMetric(groups[i].id, groups[i].metric, places[place].first_thread);
    for (std::size_t place = 0; place < places.size() && i == 0; ++place) {
      std::vector<double>& values = reading.metric.emplace_back();
      for (const Metric& metric : plan.metrics) values.push_back(value_of(groups[i], metric, places[place]));
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
std::string nonsense(const Reading& reading, bool counts_memory) {
  if (!(reading.seconds > 0)) return "LIKWID's time does not advance as the clock does";
  if (!counts_memory) return {};
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

void announce(const Plan& plan, const std::vector<Place>& places, const std::string& names) {
  fprintf(g_answers, "group %s\n", names.c_str());
  if (!plan.why_no_memory.empty()) fprintf(g_answers, "no-memory %s\n", plan.why_no_memory.c_str());
  for (const Place& place : places)
    for (const Metric& metric : plan.metrics)
      fprintf(g_answers, "meter %d %d %s\n", place.domain, metric.place, metric.name.c_str());
  fflush(g_answers);
}

void tell(const Plan& plan, const Place& place, const Reading& reading, std::size_t index) {
  if (plan.why_no_memory.empty())
    fprintf(g_answers, "sample %d %.6f %.0f\n", place.domain, reading.seconds, reading.bytes[index]);
  for (std::size_t i = 0; i < plan.metrics.size(); ++i) {
    const double value = reading.metric[index][i];
    if (std::isfinite(value))
      fprintf(g_answers, "reading %d %d %.9g\n", place.domain, plan.metrics[i].place, value);
    else
      fprintf(g_answers, "reading %d %d none\n", place.domain, plan.metrics[i].place);
  }
}

[[noreturn]] void read_for_ever(const std::vector<Place>& places, const std::string& wanted) {
  const Plan plan = plan_for(wanted);
  run_group(plan.groups.front());
  std::string names = plan.groups.front().name;
  for (std::size_t i = 1; i < plan.groups.size(); ++i) names += "+" + plan.groups[i].name;
  announce(plan, places, names);
  for (int in_a_row = 0;;) {
    const Reading reading = read_counters(plan, places);
    const std::string objection = nonsense(reading, plan.why_no_memory.empty());
    in_a_row = objection.empty() ? 0 : in_a_row + 1;
    if (in_a_row == kNonsenseLimit) finish_and_give_up("group " + names + ": " + objection);
    if (!objection.empty()) continue;
    for (std::size_t i = 0; i < places.size(); ++i) tell(plan, places[i], reading, i);
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
    fprintf(stderr, "usage: idlewave-likwid-reader [--group NAME] DOMAIN:PROCESSOR,...\n");
    return 2;
  }
  shield_output();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  open_library(places, is_chosen);
  read_for_ever(places, wanted);
}
