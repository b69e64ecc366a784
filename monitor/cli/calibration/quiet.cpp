#include "monitor/cli/calibration/quiet.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace idlewave::cli::calibration {
namespace {

constexpr double kMostWorking = 0.05;
constexpr double kMostStolen = 0.02;

double seconds_of(const rusage& usage) {
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double own_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (getrusage(who, &usage) == 0) sum += seconds_of(usage);
  }
  return sum;
}

std::string load() {
  double average[1];
  return getloadavg(average, 1) == 1 ? fmt::format(", load {:.1f}", average[0]) : "";
}

}  // namespace

std::map<int, ProcessorTime> parse_processor_times(std::string_view stat) {
  std::map<int, ProcessorTime> processors;
  std::istringstream lines{std::string(stat)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || std::isdigit(static_cast<unsigned char>(line[3])) == 0) continue;
    int number = 0;
    double user, nice, system, idle, waiting, interrupts, soft, stolen;
    if (std::sscanf(line.c_str(), "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &number, &user, &nice, &system, &idle,
                    &waiting, &interrupts, &soft, &stolen) != 9)
      continue;
    const double busy = user + nice + system + interrupts + soft;
    processors[number] = {busy, stolen, busy + stolen + idle + waiting};
  }
  return processors;
}

Moment now_at_work() {
  std::ifstream file("/proc/stat");
  std::stringstream text;
  text << file.rdbuf();
  return {parse_processor_times(text.str()), own_seconds(), double(sysconf(_SC_CLK_TCK))};
}

Others others_between(const Moment& from, const Moment& to, std::span<const int> processors) {
  ProcessorTime sum;
  for (const int processor : processors) {
    const auto before = from.processors.find(processor), after = to.processors.find(processor);
    if (before == from.processors.end() || after == to.processors.end()) continue;
    sum.busy += after->second.busy - before->second.busy;
    sum.stolen += after->second.stolen - before->second.stolen;
    sum.all += after->second.all - before->second.all;
  }
  if (sum.all <= 0) return {};
  const double own = (to.own_s - from.own_s) * to.ticks_per_s;
  return {std::max(0.0, sum.busy - own) / sum.all, sum.stolen / sum.all};
}

std::string who_disturbs(const Others& others) {
  if (others.working > kMostWorking)
    return fmt::format("other programs took {:.0f} % of the processors' time{}", others.working * 100, load());
  if (others.stolen > kMostStolen)
    return fmt::format("other virtual machines took {:.0f} % of the processors' time (steal)", others.stolen * 100);
  return "";
}

}  // namespace idlewave::cli::calibration
