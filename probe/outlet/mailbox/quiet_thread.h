#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace idlewave::mailbox {

/// Signals are for the program's own threads. Throws std::system_error.
template <class Run>
std::thread thread_without_signals(Run run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(run));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace idlewave::mailbox
