#pragma once

#include <algorithm>
#include <cstddef>
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
    /// Whoever is in that group, as long as it exists.
    void set(Handles::Key group) {
      if (group == group_ && generation_ == Handles::generation()) return;
      group_ = group;
      generation_ = Handles::generation();
      const int count = handles.world_ranks_of_group(group, ranks_);
      is_known_ = count >= 0;
      count_ = static_cast<std::size_t>(std::max(count, 0));
    }
    bool is_known() const { return is_known_; }
    std::span<const wire::Rank> ranks() const { return {ranks_, count_}; }

   private:
    Handles::Key group_;
    std::uint32_t generation_ = 0;
    bool is_known_ = false;
    std::size_t count_ = 0;
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
