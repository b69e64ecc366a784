#pragma once

#include <atomic>

#include "probe/mpi/roles.h"

namespace idlewave::mpi {

/// The program's MPI sessions between MPI_Session_init and MPI_Session_finalize, by their handles in C. No allocation; any
/// thread.
class OpenSessions {
 public:
  /// One that is there already (a library's function for Fortran calls that for C) stays one.
  void add(Word session) {
    for (std::atomic<Word>& place : places_)
      if (place.load() == session) return;
    for (std::atomic<Word>& place : places_) {
      Word free = 0;
      if (place.compare_exchange_strong(free, session)) return;
    }
    more_.fetch_add(1);
  }
  /// False: it is not there.
  bool remove(Word session) {
    for (std::atomic<Word>& place : places_)
      if (Word found = session; place.compare_exchange_strong(found, 0)) return true;
    int more = more_.load();
    while (more > 0 && !more_.compare_exchange_weak(more, more - 1)) continue;
    return more > 0;
  }
  /// One of those that are known by their handles; 0: there is none.
  Word any() const {
    for (const std::atomic<Word>& place : places_)
      if (const Word session = place.load(); session != 0) return session;
    return 0;
  }
  bool is_empty() const { return any() == 0 && more_.load() == 0; }

 private:
  static constexpr int kMost = 32;  ///< No handle is 0.
  std::atomic<Word> places_[kMost] = {};
  std::atomic<int> more_{0};  ///< That found no place.
};
[[gnu::visibility("hidden")]] extern constinit OpenSessions open_sessions;

}  // namespace idlewave::mpi
