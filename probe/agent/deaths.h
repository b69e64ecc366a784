#pragma once

#include <sys/types.h>

#include <vector>

#include "probe/agent/resident.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::agent {

/// Sees the processes of ranks end, each at its moment, whenever the agent looks on next. One thread.
class Deaths {
 public:
  Deaths();
  ~Deaths();
  Deaths(const Deaths&) = delete;
  Deaths& operator=(const Deaths&) = delete;

  /// Until it is destroyed. False: the system has no such thing, or no descriptor is left; process_runs() tells.
  bool watch(const Resident& resident);
  /// Readable when one has ended that is not taken yet; -1: never.
  int fd() const { return fd_; }
  struct Death {
    wire::Rank rank;
    pid_t pid;
  };
  /// Those that have ended since the last call, and were watched then or before: in the order in which they ended.
  std::vector<Death> take();

 private:
  int fd_;
};

}  // namespace idlewave::agent
