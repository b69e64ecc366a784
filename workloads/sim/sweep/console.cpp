#include "workloads/sim/sweep/console.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstdio>

#include "probe/wire/printable.h"

namespace idlewave::sim::sweep {
namespace {

std::atomic<bool> g_interrupted{false};

void set_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_interrupted = true; };
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
  struct sigaction hang_up {};
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
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

}  // namespace idlewave::sim::sweep
