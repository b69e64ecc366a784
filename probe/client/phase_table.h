#pragma once

#include <cstdint>

#include "probe/shm/layout.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::client {

/// Which phase values a rank may use, and the names that the program gave to some. One thread.
class PhaseTable {
 public:
  void attach(shm::Slot& slot);

  /// A value that nobody defined is kNone, so that its begin and end still match.
  wire::Phase checked(int phase) const {
    return static_cast<unsigned>(phase) < wire::kPhaseLimit && (known_ >> phase & 1) ? static_cast<wire::Phase>(phase)
                                                                                     : wire::Phase::kNone;
  }
  bool is_work(wire::Phase phase) const { return work_ >> static_cast<unsigned>(phase) & 1; }

  /// The phase of that name, which it gets now if there is room; else `category`. A longer name is cut.
  int define(const char* name, int category);

 private:
  shm::Slot* slot_ = nullptr;
  std::uint64_t known_ = 0;  ///< One bit a phase value.
  std::uint64_t work_ = 0;
  int next_ = wire::kFirstUserPhase;
};

}  // namespace idlewave::client
