#include "workloads/ring/ending.h"

#include <algorithm>
#include <limits>

#include "workloads/support/pause.h"

namespace idlewave::ring {

Ending::Ending(MPI_Comm ranks, Step steps, std::optional<Nanoseconds> duration, Nanoseconds start)
    : last_(steps > 0 ? steps : std::numeric_limits<Step>::max()), start_(start) {
  MPI_Comm_dup(ranks, &ranks_);
  if (duration) deadline_ = start + *duration;
}

bool Ending::reached(Step step) {
  if (deadline_ && !promised_) {
    if (const Nanoseconds now = support::monotonic_now(); now >= *deadline_) promise(step, now);
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
