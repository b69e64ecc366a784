#include "workloads/ring/ending.h"

#include <idlewave/probe.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>

#include "workloads/support/pause.h"

namespace idlewave::ring {
namespace {

constexpr unsigned kPatienceForOthers = 1;  ///< Seconds.

// A signal handler reaches nothing but globals.
volatile std::sig_atomic_t is_asked_to_end = 0;

void end_by_sigterm(int = 0) {
  std::signal(SIGTERM, SIG_DFL);
  std::raise(SIGTERM);
}

/// The others may never come to agree.
void note_request(int) {
  is_asked_to_end = 1;
  alarm(kPatienceForOthers);
}

}  // namespace

void heed_requests_to_end() {
  std::signal(SIGALRM, end_by_sigterm);
  std::signal(SIGTERM, note_request);
}

Ending::Ending(MPI_Comm ranks, Step steps, std::optional<Nanoseconds> duration, Nanoseconds start)
    : last_(steps > 0 ? steps : std::numeric_limits<Step>::max()), start_(start) {
  MPI_Comm_dup(ranks, &ranks_);
  if (duration) deadline_ = start + *duration;
}

bool Ending::reached(Step step) {
  const bool knows_how_long_steps_take = step > 0;
  if ((deadline_ || is_asked_to_end) && !promised_ && knows_how_long_steps_take) {
    if (const Nanoseconds now = support::monotonic_now(); is_asked_to_end || now >= *deadline_) promise(step, now);
  }
  if (answer_ != MPI_REQUEST_NULL) {
    int known = 0;
    MPI_Test(&answer_, &known, MPI_STATUS_IGNORE);
    if (!known && step >= *promised_) MPI_Wait(&answer_, MPI_STATUS_IGNORE);
    if (answer_ == MPI_REQUEST_NULL) learn();
  }
  return step >= last_;
}

void Ending::finish() {
  if (is_asked_to_end) {
    idlewave_stop();
    MPI_Barrier(ranks_);  // The first that ends makes the launcher end the others at once.
    end_by_sigterm();
  }
  if (deadline_) {
    if (!promised_) promise(last_, support::monotonic_now());
    MPI_Wait(&answer_, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&ranks_);
}

/// Far enough for the answer to come while the steps go on, and for a rank on another node whose clock started a little
/// later: if this rank stopped sending before that one's time is up, both would wait for ever.
void Ending::promise(Step step, Nanoseconds now) {
  constexpr Step kFewestSteps = 4;
  constexpr Nanoseconds kShortestTime = std::chrono::milliseconds{50};
  const Nanoseconds step_time = std::max((now - start_) / std::max<Step>(step, 1), Nanoseconds{1});
  promised_ = step + std::max<Step>(kFewestSteps, kShortestTime / step_time);
  MPI_Iallreduce(&*promised_, &agreed_, 1, MPI_INT64_T, MPI_MAX, ranks_, &answer_);
}

void Ending::learn() { last_ = std::min(last_, agreed_); }

}  // namespace idlewave::ring
