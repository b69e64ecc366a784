#pragma once
// The collectives of MPI, as a step calls them.

#include <mpi.h>

#include <vector>

#include "workloads/collectives/payload.h"

namespace idlewave::collectives {

/// One collective over all ranks, told to the probe where it is waited for.
class Call {
 public:
  /// Polls inside MPI, or sleeps and looks now and then. `payload` has to outlive it. Collective.
  Call(Collective collective, Payload& payload, MPI_Comm ranks, bool asleep);

  void run();    ///< Returns when it is done.
  void start();  ///< May go on until finish() returns.
  void look();   ///< Gives MPI a chance to make progress.
  void finish();

 private:
  void block();
  void say_partners() const;
  void complete();

  Collective collective_;
  Payload& payload_;
  MPI_Comm ranks_;
  bool asleep_;
  int phase_;                ///< Of the probe: to wait for this collective.
  std::vector<int> others_;  ///< Whom this rank receives from or sends to, if there is a root.
  bool is_root_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace idlewave::collectives
