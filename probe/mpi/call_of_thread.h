#pragma once

#include <cstdint>

#include "probe/client/call_counter.h"
#include "probe/mpi/calls.h"
#include "probe/mpi/handles.h"
#include "probe/mpi/roles.h"

namespace idlewave::mpi {

/// A call of another thread than that which reports, for as long as it goes on in the wrapper with that frame: it is shown on
/// the thread's own lane and summed, or, where that has none, counted as not seen. What the library calls within it counts
/// with it. Of the thread that reports, and while nothing is reported: nothing.
class CallOfThread {
 public:
  CallOfThread(Call call, wire::Phase phase, const void* frame);
  ~CallOfThread();
  CallOfThread(const CallOfThread&) = delete;
  CallOfThread& operator=(const CallOfThread&) = delete;

  /// What the thread may ask once the call has returned; null where it is not shown.
  Handles* handles() const { return handles_; }
  /// It has had MPI carry so much; unknown where nobody says it.
  void carried(std::int64_t bytes) { bytes_ = bytes; }
  /// It was a message to that rank of MPI_COMM_WORLD; kUnknownRank: to somebody else.
  void sent_to(int receiver) { is_message_ = true, receiver_ = receiver; }

 private:
  Call call_;
  bool is_outermost_ = false;
  bool is_message_ = false;
  int receiver_ = kUnknownRank;
  std::int64_t bytes_ = client::CallCounter::kUnknownBytes;
  Handles* handles_ = nullptr;
  wire::Nanoseconds began_{};
};

}  // namespace idlewave::mpi
