#pragma once
// When the program stops: after so many steps or so long, and all ranks after the same step.

#include <mpi.h>

#include <optional>

#include "workloads/ring/options.h"

namespace idlewave::ring {

/// From now on SIGTERM, which a launcher that is to end hands on to all ranks, is time that is up; before the first step is over,
/// once that is. A rank that alone is asked, or that is not so far, ends a second later. Called before the rank reports: whoever
/// has begun to report says that it ends.
void heed_requests_to_end();

/// The ranks may be many steps apart, in both directions, so none of them can fix the last step alone. When the time is
/// up each rank says, without stopping, how far it will go before it insists on an answer; the largest such promise
/// becomes the last step. One nonblocking reduction in the whole run, and none before the time is up.
class Ending {
 public:
  /// `steps`: 0 for no limit. `start`: the common start of the steps on this node's clock.
  Ending(MPI_Comm ranks, Step steps, std::optional<Nanoseconds> duration, Nanoseconds start);

  /// Asked at the beginning of each step. Blocks only when this rank has come to the end of its promise.
  bool reached(Step step);

  /// Called by every rank after its last step. Ends the process by SIGTERM if that has been asked for.
  void finish();

 private:
  void promise(Step step, Nanoseconds now);
  void learn();

  MPI_Comm ranks_;
  Step last_;  ///< First step that is not done.
  Nanoseconds start_;
  std::optional<Nanoseconds> deadline_;
  std::optional<Step> promised_;
  Step agreed_ = 0;
  MPI_Request answer_ = MPI_REQUEST_NULL;
};

}  // namespace idlewave::ring
