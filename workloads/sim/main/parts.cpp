#include "workloads/sim/main/parts.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "probe/wire/printable.h"
#include "probe/words/quantity.h"
#include "workloads/sim/noise/make_noise.h"
#include "workloads/support/noise_trace.h"

namespace idlewave::sim {
namespace {

std::atomic<bool> g_interrupted{false};

void set_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_interrupted = true; };
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
  struct sigaction hang_up {};
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

/// System noise is drawn anew every 4 ms of work.
wire::Status check_noise(const support::Scenario& scenario) {
  constexpr auto kLongest = std::chrono::hours(24);
  const bool drawn_in_time = std::holds_alternative<support::SystemNoise>(scenario.noise.distribution);
  if (!drawn_in_time || scenario.program.time <= kLongest) return wire::ok();
  return wire::Error{"program.time: is longer than 24 h, which can't be with noise.distribution \"system\""};
}

}  // namespace

int complain(const std::string& message, int code) {
  std::fputs(fmt::format("idlewave: {}\n", wire::printable(message)).c_str(), stderr);
  return code;
}

void tell(const std::string& result) { std::fputs(wire::printable_lines(result).c_str(), stdout); }

const std::atomic<bool>& interrupted() {
  static const bool ready = (set_signals(), true);
  (void)ready;
  return g_interrupted;
}

wire::Result<Prepared> prepare(const Options& options, const std::vector<std::string>& more) {
  std::vector<std::string> settings = options.settings;
  settings.insert(settings.end(), more.begin(), more.end());
  auto scenario = support::load_scenario(options.scenario, settings);
  if (!scenario) return scenario.error();
  const auto trace = support::load_noise_trace(scenario->noise, options.scenario.parent_path());
  if (!trace) return trace.error();
  auto noise = make_noise(scenario->noise, *trace);
  if (!noise) return noise.error();
  if (const auto ends = check_noise(*scenario); !ends)
    return wire::Error{options.scenario.string() + ": " + ends.error().message};
  if (options.without_delays) scenario->delays.clear();
  return Prepared{std::move(*scenario), std::move(*noise)};
}

wire::Status check_memory(std::size_t bytes, const std::string& advice) {
  auto there = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  rlimit allowed{};
  if (getrlimit(RLIMIT_AS, &allowed) == 0) there = std::min<std::size_t>(there, allowed.rlim_cur);
  if (bytes <= there) return wire::ok();
  return wire::Error{fmt::format("this run needs {} of memory, and there are {}: {}", words::format_bytes(bytes),
                                 words::format_bytes(there), advice)};
}

}  // namespace idlewave::sim
