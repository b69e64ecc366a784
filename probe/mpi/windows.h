#pragma once

#include <cstdint>
#include <span>

#include "probe/mpi/handles.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::mpi {

/// Between whom data goes in the epochs of windows that a rank has begun, by MPI_Win_post and MPI_Win_start: ranks in
/// MPI_COMM_WORLD. Of a few windows at a time; no allocation; one thread.
class Windows {
 public:
  static constexpr std::size_t kMostRanks = 256;  ///< Of one group.

  /// One side of an epoch.
  class Group {
   public:
    /// Whoever is in that group, as long as it exists. False: that can't be said.
    bool set(Handles::Key group) {
      if (group == group_ && generation_ == Handles::generation()) return count_ >= 0;
      group_ = group;
      generation_ = Handles::generation();
      count_ = handles.world_ranks_of_group(group, ranks_);
      return count_ >= 0;
    }
    bool is_known() const { return count_ >= 0; }
    std::span<const wire::Rank> ranks() const { return {ranks_, static_cast<std::size_t>(count_ < 0 ? 0 : count_)}; }

   private:
    Handles::Key group_;
    std::uint32_t generation_ = 0;
    int count_ = -1;
    wire::Rank ranks_[kMostRanks] = {};
  };

  struct Window {
    Handles::Key handle;
    Group origins;  ///< That this rank has let put into its memory.
    Group targets;  ///< Into whose memory it puts.
  };

  /// Of which nothing is known where it was not asked for lately.
  Window& of(Handles::Key handle) {
    for (Window& window : windows_)
      if (window.handle == handle) return window;
    Window& oldest = windows_[next_++ % kMost];
    oldest = {};
    oldest.handle = handle;
    return oldest;
  }

 private:
  static constexpr std::size_t kMost = 8;

  std::size_t next_ = 0;
  Window windows_[kMost] = {};
};

}  // namespace idlewave::mpi
