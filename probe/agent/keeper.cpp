#include "probe/agent/keeper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "probe/session/trouble_log.h"
#include "probe/shm/clock.h"

namespace idlewave::agent {

namespace {

// An agent that dies of what the ranks write would die again: so many in so short a time are enough.
constexpr int kMostRestarts = 5;
constexpr wire::Nanoseconds kRestartSpan = std::chrono::minutes(1);

// The signal handler's.
volatile sig_atomic_t g_agent = 0;
volatile sig_atomic_t g_ending = 0;

/// What ends the agent, wakes it, and tells it that no rank will come any more.
constexpr std::array kPassedOn = {SIGTERM, SIGCONT, SIGURG};

void pass_on(int number) {
  if (number == SIGTERM) g_ending = 1;
  if (g_agent > 0) kill(pid_t(g_agent), number);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
}

int wait_for(pid_t agent) {
  int status = 0;
  while (waitpid(agent, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

std::string describe(pid_t agent, int status) {
  const int number = WTERMSIG(status);
  return "the agent (process " + std::to_string(agent) + ") was ended by signal " + std::to_string(number) + " (" +
         strsignal(number) + ")";
}

}  // namespace

int Keeper::run(Background starter) {
  post_->keeper = getpid();
  std::array<struct sigaction, kPassedOn.size()> as_before{};
  for (std::size_t i = 0; i < kPassedOn.size(); ++i) sigaction(kPassedOn[i], nullptr, &as_before[i]);
  for (;;) {
    for (const int number : kPassedOn) handle(number, pass_on);
    const pid_t agent = start_agent(starter);
    if (agent == 0) {
      for (std::size_t i = 0; i < kPassedOn.size(); ++i) sigaction(kPassedOn[i], &as_before[i], nullptr);
      if (g_ending != 0) raise(SIGTERM);
      return collect_(std::move(*post_), std::move(starter));
    }
    starter.leave_to_child();
    if (agent < 0) return EXIT_FAILURE;
    const int status = wait_for(agent);
    g_agent = 0;
    if (WIFEXITED(status)) {
      post_->claim->forget();
      return WEXITSTATUS(status);
    }
    const bool again = may_start_another(status);
    tell(describe(agent, status) + (again ? "; another one goes on for its ranks" : "; there is no other"));
    if (!again) return EXIT_FAILURE;
  }
}

/// 0 in the child.
pid_t Keeper::start_agent(Background& starter) {
  const pid_t agent = fork();
  prctl(PR_SET_NAME, agent == 0 ? "idlewave-agent" : "iw-agent-keeper");
  if (agent == 0) return 0;
  if (agent < 0) starter.report(EXIT_FAILURE, std::string("idlewave-agent: can't start: ") + std::strerror(errno));
  g_agent = agent;
  // It came between the fork and the line before.
  if (agent > 0 && g_ending != 0) kill(agent, SIGTERM);
  return agent;
}

/// Some rank is there, and the agent had not closed its door.
bool Keeper::is_needed() const {
  shm::Header& header = post_->segment->header();
  if (header.open.load() != 1) return false;
  // A rank may have joined after the agent had looked last: it has the first slot that was never used.
  const std::uint32_t looked_at = std::min(header.slots_used.load(), post_->segment->slots() - 1) + 1;
  for (std::uint32_t i = 0; i < looked_at; ++i) {
    const shm::Slot& slot = post_->segment->slot(i);
    if (slot.state.load() != shm::SlotState::kFree && Newcomer::in(slot).runs()) return true;
  }
  return false;
}

bool Keeper::may_start_another(int status) {
  if (g_ending != 0 || WTERMSIG(status) == SIGTERM || !is_needed()) return false;
  const wire::Nanoseconds now = shm::monotonic_now();
  if (now - first_restart_ > kRestartSpan) restarts_ = 0;
  if (restarts_ == 0) first_restart_ = now;
  if (++restarts_ <= kMostRestarts) return true;
  tell("agents of this session die too often");
  return false;
}

void Keeper::tell(const std::string& line) const {
  post_->claim->log(line);
  session::note_trouble(session_.c_str(), line.c_str());
}

}  // namespace idlewave::agent
