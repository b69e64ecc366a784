#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "monitor/cli/calibration/command_line.h"
#include "monitor/cli/calibration/likwid_bench.h"
#include "monitor/cli/calibration/machine_file.h"
#include "monitor/cli/calibration/output.h"
#include "monitor/cli/calibration/quiet.h"
#include "monitor/cli/calibration/verb.h"
#include "monitor/cli/progress.h"
#include "monitor/cli/verbs.h"
#include "monitor/host/programs.h"
#include "probe/machine/processor.h"

namespace idlewave::cli::calibration {
namespace {

constexpr double kMostScatter = 0.1;
constexpr auto kLookAround = std::chrono::milliseconds(500);

int busy(const std::string& why) {
  return fail(fmt::format("the machine is busy, so nothing is kept: {}", why), kBusy);
}

std::vector<int> processors_of(const std::vector<MeasuredDomain>& domains) {
  std::vector<int> all;
  for (const MeasuredDomain& domain : domains)
    all.insert(all.end(), domain.processors.begin(), domain.processors.end());
  return all;
}

std::string who_disturbs_before(const std::vector<int>& processors) {
  const Moment before = now_at_work();
  std::this_thread::sleep_for(kLookAround);
  return who_disturbs(others_between(before, now_at_work(), processors));
}

/// Repeats of n cores of any domain are repeats of the same.
std::vector<std::vector<double>> together(const std::vector<std::vector<Series>>& of_domains, std::size_t loop) {
  std::vector<std::vector<double>> all;
  for (const auto& domain : of_domains) {
    const auto& repeats = domain[loop].repeats;
    all.resize(std::max(all.size(), repeats.size()));
    for (std::size_t n = 0; n < repeats.size(); ++n) all[n].insert(all[n].end(), repeats[n].begin(), repeats[n].end());
  }
  return all;
}

void fit_all(const std::vector<std::vector<Series>>& of_domains, Calibration& calibration) {
  for (std::size_t loop = 0; loop < calibration.plan.kinds.size(); ++loop) {
    LoopResult result{calibration.plan.kinds[loop], fit(together(of_domains, loop)), {}, {}};
    for (const auto& domain : of_domains) result.of_domain.push_back(fit(domain[loop].repeats));
    calibration.loops.push_back(std::move(result));
  }
}

/// Empty: repeats agree.
std::string which_scatter(const Calibration& calibration) {
  for (const LoopResult& loop : calibration.loops) {
    for (std::size_t domain = 0; domain < loop.of_domain.size(); ++domain) {
      const Fit& fit = loop.of_domain[domain];
      if (fit.scatter <= kMostScatter) continue;
      return fmt::format("repeats of {} on n = {} of {} scatter by {:.0f} % (between the quartiles; at most {:.0f} %)",
                         name_of(loop.kind), fit.most_scattered, calibration.domains[domain].label, fit.scatter * 100,
                         kMostScatter * 100);
    }
  }
  return "";
}

void ask_likwid(Calibration& calibration) {
  const auto program = host::find_program("likwid-bench");
  if (!program) return;
  for (LoopResult& loop : calibration.loops) {
    loop.likwid =
        ask_likwid_bench(*program, loop.kind, 0, calibration.domains.front(), calibration.array_bytes.front());
    if (loop.likwid.size() < std::size_t(calibration.cores_of_domain())) loop.likwid.clear();
  }
}

wire::Result<std::vector<std::vector<Series>>> measure_all(const Calibration& calibration) {
  Progress progress("measuring");
  std::vector<std::vector<Series>> of_domains;
  for (const MeasuredDomain& domain : calibration.domains) {
    const auto done = double(of_domains.size());
    auto series = measure(domain, calibration.plan,
                          [&](double share) { progress.reached((done + share) / double(calibration.domains.size())); });
    if (!series) return series.error();
    of_domains.push_back(std::move(*series));
  }
  return of_domains;
}

bool is_terminal() { return isatty(STDOUT_FILENO) != 0; }

PlotSize size_of_output() {
  winsize window{};
  if (!is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return {80, 24, false};
  return {std::clamp<int>(window.ws_col, 40, 160), std::clamp<int>(window.ws_row - 1, 12, 40),
          std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
}

void print_result(const Calibration& calibration, bool as_json) {
  if (as_json) return print(json_of(calibration));
  print((is_terminal() ? "" : table_of(calibration)) + text_of(calibration, size_of_output()));
}

int run(const Options& options) {
  if (!options.output.empty()) {
    if (const wire::Status free = check_free(options.output); !free) return fail(free.error().message, 2);
  }
  const agent::Topology topology;
  Calibration calibration{machine::describe_processors(), domains_of(topology), {}, options.plan, {}};
  if (calibration.domains.empty()) return fail("hwloc knows no memory domain of this machine", 1);
  for (const MeasuredDomain& domain : calibration.domains)
    calibration.array_bytes.push_back(array_bytes(options.plan, domain));
  const std::vector<int> processors = processors_of(calibration.domains);
  if (const std::string who = who_disturbs_before(processors); !who.empty()) return busy(who);

  const Moment before = now_at_work();
  const auto of_domains = measure_all(calibration);
  if (!of_domains) return fail(of_domains.error().message, 1);
  if (const std::string who = who_disturbs(others_between(before, now_at_work(), processors)); !who.empty())
    return busy(who);
  fit_all(*of_domains, calibration);
  if (const std::string which = which_scatter(calibration); !which.empty()) return busy(which);
  if (options.likwid) ask_likwid(calibration);

  if (!options.output.empty()) {
    const wire::Status written = write_machine_file(options.output, machine_file(calibration));
    if (!written) return fail(written.error().message, 1);
  }
  print_result(calibration, options.json);
  return 0;
}

}  // namespace

int calibrate(int argc, char** argv) {
  const Parsed parsed = parse(argc, argv);
  return parsed.options ? run(*parsed.options) : parsed.exit_code;
}

}  // namespace idlewave::cli::calibration
