#include "monitor/process/sent_signals.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace idlewave::process {

bool is_passed_on(int signal) {
  constexpr std::array kOurs = {SIGKILL, SIGSTOP, SIGCHLD, SIGTTIN, SIGTTOU};
  return std::ranges::find(kOurs, signal) == kOurs.end() && (signal < 32 || signal >= SIGRTMIN);
}

bool is_by_somebody(int signal, int code, int sender) {
  const bool may_be_our_own = signal == SIGXFSZ || signal == SIGXCPU || signal == SIGPIPE;
  return !may_be_our_own || (code == SI_USER && sender != getpid());
}

void let_act(int signal) {
  sigset_t coming;
  sigemptyset(&coming);
  sigaddset(&coming, signal);
  pthread_sigmask(SIG_UNBLOCK, &coming, nullptr);
  pthread_sigmask(SIG_BLOCK, &coming, nullptr);
}

}  // namespace idlewave::process
