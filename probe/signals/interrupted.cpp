#include "probe/signals/interrupted.h"

#include <csignal>

namespace idlewave::signals {
namespace {

// A signal handler reaches nothing but globals.
std::atomic<bool> has_come{false};

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { has_come = true; };
  for (const int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
  struct sigaction hang_up {};
  if (::sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN)
    ::sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

const std::atomic<bool>& interrupted() {
  static const bool ready = (catch_signals(), true);
  (void)ready;
  return has_come;
}

}  // namespace idlewave::signals
